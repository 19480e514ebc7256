/** Times and numbers as people read them. */

/** `mm:ss.mmm` */
export function clockTime(ms: number): string {
  const whole = Math.max(0, Math.floor(ms))
  const pad = (value: number, length: number) => String(value).padStart(length, '0')
  return `${pad(Math.floor(whole / 60_000), 2)}:${pad(Math.floor(whole / 1_000) % 60, 2)}.${pad(whole % 1_000, 3)}`
}

/** `18 ms`, `2.94 s` */
export function duration(ms: number): string {
  return Math.abs(ms) < 1_000 ? `${Math.round(ms)} ms` : `${seconds(ms)} s`
}

/** `2.3 s`, `640 ms` */
export function roughly(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms / 10) * 10} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** With up to two digits after the point. */
function seconds(ms: number): string {
  return String(Math.round(ms / 10) / 100)
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
