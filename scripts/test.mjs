/**
 * `npm test`: every check there is, each to its end, whatever the others come to. `npm test -- types core` runs the steps, or the tests of
 * the packages, that are named.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { cache, main, root, run } from './workspace.mjs'

const bin = (name) => join(root, 'node_modules', '.bin', name)
const report = join(cache, 'vitest.json')

/** A step that is one check: it passes if the command succeeds. */
const command = (name, args, options) => async () => {
  const { ok, output } = await run(name, args, options)
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, output }
}

const steps = {
  format: command(bin('biome'), ['check', '--error-on-warnings', '.']),
  types: command(bin('tsc'), ['-p', 'tsconfig.tests.json']),
  tidy: () => import('./tidy.mjs').then(({ tidy }) => tidy()),
  tests: (packages) => vitest(packages),
  'node:test': nodeTest,
  packages: () => import('./packaging.mjs').then(({ packaging }) => packaging()),
}

async function vitest(packages) {
  rmSync(report, { force: true })
  mkdirSync(cache, { recursive: true })
  const filters = packages.map((name) =>
    existsSync(join(root, 'packages', name)) ? `packages/${name}/` : `${name}/`,
  )
  const args = ['run', ...filters, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { ok, output } = await run(bin('vitest'), args, { env: { NO_COLOR: '1' } })
  const { numPassedTests: passed = 0, numFailedTests = 0 } = readReport()
  return { passed, failed: ok ? 0 : Math.max(1, numFailedTests), output }
}

function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return {}
  }
}

/** The contract suites under Node's own runner, with the built packages. */
async function nodeTest() {
  const { ok, output } = await run(process.execPath, [
    '--test',
    '--test-reporter=tap',
    'packages/tck/test/runners/node-test.mjs',
  ])
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  return { passed: count('pass'), failed: ok ? 0 : Math.max(1, count('fail')), output }
}

async function test() {
  const began = performance.now()
  const asked = process.argv.slice(2)
  const packages = asked.filter((name) => !(name in steps))
  const chosen = Object.keys(steps).filter(
    (name) => asked.length === 0 || asked.includes(name) || (name === 'tests' && packages.length > 0),
  )
  await prepare()
  let passed = 0
  let failed = 0
  for (const name of chosen) {
    const from = performance.now()
    const result = await steps[name](packages)
    passed += result.passed
    failed += result.failed
    const seconds = ((performance.now() - from) / 1000).toFixed(1)
    console.log(
      `${result.failed === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${result.passed} passed, ${result.failed} failed, ${seconds} s`,
    )
    if (result.failed > 0) console.log(result.output)
    else if (result.note !== undefined) console.log(result.note)
  }
  console.log(`in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  console.log(`${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

await main(test)
