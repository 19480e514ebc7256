/**
 * `npm run mutate [-- files…]`: breaks the engine line by line, in a copy, and prints which changes no unit test notices. Takes half an
 * hour for the whole engine; not part of `npm test`. The tool is installed in the copy only.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prepare } from './prepare.mjs'
import { cache, main, must, packages, root } from './workspace.mjs'

const STRYKER = '9.6.1'
const copy = join(cache, 'mutate')

async function mutate() {
  await prepare()
  const files = process.argv.slice(2)
  copyTree()
  if (!existsSync(join(copy, 'node_modules'))) await install()
  writeFileSync(
    join(copy, 'vitest.config.ts'),
    onlyEngineTests(readFileSync(join(root, 'vitest.config.ts'), 'utf8')),
  )
  const config = {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    // It would read the configuration by an interface that TypeScript 7 does not have.
    tsconfigFile: 'no-such-file.json',
    mutate:
      files.length > 0 ? files : ['packages/core/src/engine/*.ts', '!packages/core/src/engine/invariants.ts'],
    coverageAnalysis: 'perTest',
    reporters: ['clear-text', 'progress-append-only'],
    allowEmpty: false,
  }
  writeFileSync(join(copy, 'stryker.config.json'), JSON.stringify(config))
  const bin = join(copy, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js')
  await must(process.execPath, [bin, 'run'], { cwd: copy, show: true, timeoutMs: 3 * 3_600_000 })
}

/** What git knows of, as it is in the working tree. */
function copyTree() {
  for (const part of ['packages', 'simulate', 'demo', 'examples'])
    rmSync(join(copy, part), { recursive: true, force: true })
  const list = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  for (const path of list.split('\n').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path))
  }
}

async function install() {
  const modules = join(copy, 'node_modules')
  cpSync(join(root, 'node_modules'), modules, { recursive: true, verbatimSymlinks: true })
  const tools = ['core', 'vitest-runner'].map((name) => `@stryker-mutator/${name}@${STRYKER}`)
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--save-dev']
  await must('npm', ['install', ...options, ...tools], { cwd: copy })
  rmSync(join(modules, '@simba'), { recursive: true, force: true })
  mkdirSync(join(modules, '@simba'))
  for (const { name, folder } of packages())
    symlinkSync(folder.replace(root, `${copy}/`), join(modules, name))
}

function onlyEngineTests(config) {
  return config.replace(/include: \[[^\]]*\]/, "include: ['packages/core/test/{engine,laws}/**/*.test.ts']")
}

await main(mutate)
