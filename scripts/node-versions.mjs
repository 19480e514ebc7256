/** Other versions of Node.js to test on, from npm; kept in the cache. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache, must } from './workspace.mjs'

const VERSIONS = { 20: '20.19.6', 22: '22.23.3', 24: '24.21.0' }

/** The programs, by major version: `Map<string, path>`. The running Node.js stands for its own major version. */
export async function nodeVersions() {
  const running = process.versions.node.split('.')[0]
  const wanted = Object.entries(VERSIONS).filter(([major]) => major !== running)
  const folder = join(cache, 'node')
  const binary = (major) => join(folder, 'node_modules', `node${major}`, 'bin', 'node')
  if (!wanted.every(([major]) => existsSync(binary(major)))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
    const specs = wanted.map(([major, version]) => `node${major}@npm:node-${platform}@${version}`)
    await must('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...specs], { cwd: folder })
  }
  return new Map([[running, process.execPath], ...wanted.map(([major]) => [major, binary(major)])])
}
