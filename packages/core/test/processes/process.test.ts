/** Processes of their own, where a rejection that nobody handles ends the process: each ends by itself, in order, and says nothing. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('programs.mjs', import.meta.url))
const names = [...readFileSync(script, 'utf8').matchAll(/^ {2}'([^']*)': async/gm)].map(
  ([, name = '']) => name,
)

test.for(names)('%s', { timeout: 30_000 }, async (name) => {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', '--trace-warnings', script, name])
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const tooLong = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (...ended) => resolve(ended))
  })
  clearTimeout(tooLong)
  expect({ code, signal, output }).toEqual({ code: 0, signal: null, output: '' })
})

test('there are programs', () => {
  expect(names).toHaveLength(5)
})
