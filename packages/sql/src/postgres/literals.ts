/**
 * Values as parts of a statement. Several statements fit in one message only without parameters, so values are written into it. What is
 * not made of harmless characters alone is quoted by dollars, which nothing inside can end, whatever the server's settings for escapes.
 */

const HARMLESS = /^[A-Za-z0-9._:-]*$/

export function text(value: string): string {
  if (HARMLESS.test(value)) return `'${value}'`
  if (value.includes('\0')) throw new TypeError('PostgreSQL takes no text with the character 0 in it')
  let tag = '$simba$'
  for (let salt = 0; value.includes(tag) || `${value}$`.endsWith(tag); salt += 1) tag = `$simba${salt}$`
  return `${tag}${value}${tag}`
}

export function whole(value: number | bigint): string {
  const token = BigInt(value)
  return token < 0n ? `(${token})` : String(token)
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
