/** Makes a fresh clone ready: installs what the lock file names, and builds. Quiet, unless something fails. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isMain, main, must, root } from './workspace.mjs'

const [major, minor] = process.versions.node.split('.').map(Number)

export async function prepare() {
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(`This is Node.js ${process.versions.node}; Simba needs 20.19 or later.`)
  }
  if (!isInstalled()) {
    console.error('Installing what package-lock.json names (npm ci) …')
    await must('npm', ['ci', '--loglevel=error'])
  }
  const { build } = await import('./build.mjs')
  await build()
}

/** npm notes in this file what it has installed. */
function isInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json')
  return (
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs
  )
}

if (isMain(import.meta.url)) await main(prepare)
