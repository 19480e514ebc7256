/**
 * Cleans up after the story, however that ends. Nodes end by themselves when the story's process dies, but one that is stopped cannot,
 * and nobody would remove the folder. The warden holds the other end of a pipe: when the story's process is gone, or has said that it is
 * done, the pipe closes, and the warden kills what is left and removes the folder.
 *
 * It reads lines: `+pid` a node was started, `-pid` it is gone, `keep` the folder is to stay.
 */
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const folder = process.argv[2] ?? ''
const pids = new Set<number>()
let keep = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  if (line === 'keep') keep = true
  else if (line.startsWith('+')) pids.add(Number(line.slice(1)))
  else if (line.startsWith('-')) pids.delete(Number(line.slice(1)))
})
lines.on('close', () => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It is gone.
    }
  }
  // Retried, since a process that is dying may still be writing into the folder.
  if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  process.exit(0)
})
