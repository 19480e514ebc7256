/**
 * `npm run mutate [-- files…]`: breaks the engine line by line, in a copy, and prints which changes no test notices, and the score. Not
 * part of `npm test`; the tool is installed in the copy only. Nearly every test of a single rule takes milliseconds, and finds most
 * changes; only what those do not find meets the tests that visit every state and thousands of random lives.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prepare } from './prepare.mjs'
import { cache, main, must, packages, root } from './workspace.mjs'

const STRYKER = '9.6.1'
const copy = join(cache, 'mutate')
const TESTS = 'packages/core/test/{engine,laws}/**/*.test.ts'
const THOROUGH = `include: ['${TESTS}'], testNamePattern: /^(?!.*a million names)/`
const FAST = `${THOROUGH}, exclude: ['**/random.test.ts', '**/every-state.test.ts']`

async function mutate() {
  await prepare()
  const files = process.argv.slice(2)
  copyTree()
  if (!existsSync(join(copy, 'node_modules'))) await install()
  const asked =
    files.length > 0 ? files : ['packages/core/src/engine/*.ts', '!packages/core/src/engine/invariants.ts']
  const first = await pass(asked, FAST)
  const unnoticed = first.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  console.log(
    `\n${unnoticed.length} of ${first.length} changes are unnoticed by the tests of single rules.\n`,
  )
  const second = unnoticed.length === 0 ? [] : await pass(unnoticed.map(rangeOf), THOROUGH)
  const left = second.filter(
    (mutant) =>
      mutant.status !== 'Killed' &&
      mutant.status !== 'Timeout' &&
      unnoticed.some((one) => keyOf(one) === keyOf(mutant)),
  )
  for (const mutant of left)
    console.log(`${mutant.file}:${mutant.line}  ${mutant.name}: ${mutant.was} → ${mutant.replacement}`)
  const score = (100 * (first.length - left.length)) / first.length
  console.log(`\n${left.length} of ${first.length} changes survive: ${score.toFixed(1)} % are noticed.`)
}

/** One run of the tool; returns what became of each change. */
async function pass(mutate, tests) {
  const config = readFileSync(join(root, 'vitest.config.ts'), 'utf8')
  writeFileSync(join(copy, 'vitest.config.ts'), config.replace(/include: \[[^\]]*\]/, tests))
  const report = join(copy, 'mutation.json')
  writeFileSync(
    join(copy, 'stryker.config.json'),
    JSON.stringify({
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      // It would read the configuration by an interface that TypeScript 7 does not have.
      tsconfigFile: 'no-such-file.json',
      mutate,
      coverageAnalysis: 'perTest',
      reporters: ['json', 'progress-append-only'],
      jsonReporter: { fileName: report },
      allowEmpty: false,
    }),
  )
  const bin = join(copy, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js')
  const env = { ENGINE_RUNS: '300' }
  await must(process.execPath, [bin, 'run'], { cwd: copy, env, show: true, timeoutMs: 3 * 3_600_000 })
  const { files } = JSON.parse(readFileSync(report, 'utf8'))
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status !== 'Ignored' && status !== 'CompileError')
      .map(({ mutatorName, replacement, status, location: { start, end } }) => ({
        file,
        status,
        name: mutatorName,
        line: start.line,
        range: `${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`,
        was: textOf(source, start, end),
        replacement,
      })),
  )
}

const rangeOf = ({ file, range }) => `${file}:${range}`
const keyOf = ({ file, range, name, replacement }) => [file, range, name, replacement].join('\n')

function textOf(source, start, end) {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const text =
    lines.length === 1
      ? lines[0].slice(start.column - 1, end.column - 1)
      : `${lines[0].slice(start.column - 1)} …`
  return text.trim()
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

await main(mutate)
