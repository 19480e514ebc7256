/**
 * Packs every package as it would be published, installs the tarballs in an empty project, and uses them there: by `import`, by
 * `require`, under jest, on each supported version of Node.js.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asCommonJs, codeBlocks } from './code-blocks.mjs'
import { nodeVersions } from './node-versions.mjs'
import { isMain, must, packages, root, run } from './workspace.mjs'

const ALLOWED =
  /^package\/(package\.json|README\.md|LICENSE|schema\/.*\.sql|dist\/(esm|cjs)\/.*\.(js|d\.ts)|dist\/cjs\/package\.json)$/

export async function packaging() {
  const checks = new Checks()
  const folder = mkdtempSync(join(tmpdir(), 'simba-packaging-'))
  try {
    const tarballs = await pack(folder, checks)
    await publint(checks)
    await install(folder, tarballs)
    const versions = await nodeVersions()
    await checkBlocks(folder, versions, checks)
    await checkCopies(folder, versions, checks)
    await jest(folder, checks)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return checks.result()
}

class Checks {
  #passed = 0
  #output = []
  #failed = 0
  #notes = []

  add(name, ok, output = '') {
    if (ok) this.#passed++
    else {
      this.#failed++
      this.#output.push(`FAILED: ${name}\n${output}`)
    }
  }

  note(text) {
    this.#notes.push(`       ${text}`)
  }

  result() {
    return {
      passed: this.#passed,
      failed: this.#failed,
      output: this.#output.join('\n'),
      note: this.#notes.join('\n'),
    }
  }
}

async function pack(folder, checks) {
  const packed = JSON.parse(
    await must('npm', [
      'pack',
      '--json',
      '--loglevel=error',
      '--pack-destination',
      folder,
      ...packages().map(({ folder }) => folder),
    ]),
  )
  const list = Array.isArray(packed) ? packed : Object.values(packed)
  for (const { name, filename, files, size } of list) {
    const tarball = join(folder, filename)
    const strange = files.map(({ path }) => `package/${path}`).filter((path) => !ALLOWED.test(path))
    checks.add(
      `${name} holds only what is published`,
      strange.length === 0,
      `It also holds ${strange.join(', ')}.`,
    )
    for (const needed of ['README.md', 'LICENSE', 'dist/esm/index.js', 'dist/cjs/index.js']) {
      checks.add(
        `${name} holds ${needed}`,
        files.some(({ path }) => path === needed),
        `It is not in ${tarball}.`,
      )
    }
    checks.note(`${name} ${(size / 1024).toFixed(1)} kB packed, ${files.length} files`)
  }
  const { dependencies } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'))
  checks.add('@simba/core has no dependency', dependencies === undefined, JSON.stringify(dependencies))
  return list.map(({ filename }) => join(folder, filename))
}

async function publint(checks) {
  const bin = join(root, 'node_modules', 'publint', 'src', 'cli.js')
  for (const { name, folder } of packages()) {
    const { ok, output } = await run(process.execPath, [bin, folder, '--strict'])
    checks.add(`publint finds nothing in ${name}`, ok, output)
  }
}

async function install(folder, tarballs) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const others = ['@photostructure/sqlite', '@types/node', 'typescript'].map(
    (name) => `${name}@${devDependencies[name]}`,
  )
  const options = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
  await must('npm', ['install', ...options, ...tarballs, ...others, 'jest@30.2.0'], { cwd: folder })
}

/** The code of the documentation, in the empty project: type-checked as both kinds of modules, and run as both on each Node.js. */
async function checkBlocks(folder, versions, checks) {
  const blocks = codeBlocks().map((block, index) => ({ ...block, file: `block-${index}` }))
  const out = join(folder, 'blocks')
  mkdirSync(out)
  for (const { file, code } of blocks) writeFileSync(join(out, `${file}.mts`), code)
  writeFileSync(join(out, 'vitest.d.ts'), VITEST)
  writeFileSync(join(out, 'required.cts'), importsOnly(blocks))
  for (const [resolution, module] of [
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ]) {
    const files = resolution === 'bundler' ? ['*.mts', '*.d.ts'] : ['*.mts', '*.cts', '*.d.ts']
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2023', 'ESNext.Disposable'],
      module,
      moduleResolution: resolution,
      strict: true,
      types: ['node'],
      outDir: resolution,
    }
    const config = `tsconfig.${resolution}.json`
    writeFileSync(join(out, config), JSON.stringify({ compilerOptions, include: files }))
    const tsc = join(folder, 'node_modules', 'typescript', 'bin', 'tsc')
    const { ok, output } = await run(process.execPath, [tsc, '-p', config], { cwd: out })
    checks.add(
      `the documentation's code type-checks, with moduleResolution ${resolution}`,
      ok,
      `${output}\n${legend(blocks)}`,
    )
  }
  for (const { path, line, file } of blocks.filter(({ kind }) => kind === 'run')) {
    const built = readFileSync(join(out, 'nodenext', `${file}.mjs`), 'utf8')
    writeFileSync(join(out, `${file}.mjs`), built)
    writeFileSync(join(out, `${file}.cjs`), asCommonJs(built))
    for (const [major, node] of versions) {
      for (const kind of ['mjs', 'cjs']) {
        const cwd = mkdtempSync(join(out, 'run-'))
        const { ok, output } = await run(
          node,
          ['--unhandled-rejections=strict', join(out, `${file}.${kind}`)],
          { cwd, timeoutMs: 60_000 },
        )
        checks.add(`the code at ${path}:${line} runs on Node ${major} as .${kind}`, ok, output)
      }
    }
  }
}

/** Just enough of the test runner for what the documentation shows. */
const VITEST = `declare module 'vitest' {
  export function test(name: string, body: () => unknown): void
  export function describe(name: string, body: () => unknown): void
  export const it: typeof test
  export function expect(value: unknown): Record<string, (expected?: unknown) => void>
}
`

function importsOnly(blocks) {
  const names = new Map()
  for (const { code } of blocks) {
    for (const [, list, from] of code.matchAll(/^import \{([^}]*)\} from '(@simba\/[^']*)'$/gm)) {
      const known = names.get(from) ?? new Set()
      for (const name of list.split(',')) known.add(name.trim())
      names.set(from, known)
    }
  }
  const lines = [...names].map(([from, list]) => `import { ${[...list].join(', ')} } from '${from}'`)
  const used = [...names.values()].flatMap((list) => [...list]).filter((name) => !name.startsWith('type '))
  return `${lines.join('\n')}\nexport const used: unknown[] = [typeof ${used.join(', typeof ')}]\n`
}

function legend(blocks) {
  return blocks.map(({ file, path, line }) => `${file}.mts is ${path}:${line}`).join('\n')
}

/** Both builds loaded in one process, as happens when one dependency imports and another requires. */
async function checkCopies(folder, versions, checks) {
  writeFileSync(join(folder, 'copies.mjs'), COPIES)
  for (const [major, node] of versions) {
    const { ok, output } = await run(node, ['--unhandled-rejections=strict', 'copies.mjs'], {
      cwd: folder,
      timeoutMs: 60_000,
    })
    checks.add(`both builds work side by side on Node ${major}`, ok, output)
  }
}

const COPIES = `import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import * as esm from '@simba/core'
import * as esmTesting from '@simba/testing'

const require = createRequire(import.meta.url)
const cjs = require('@simba/core')
const cjsTesting = require('@simba/testing')
assert.notEqual(esm.Simba, cjs.Simba, 'there are two copies')

const time = new esmTesting.VirtualTime()
const backend = new esmTesting.MemoryLeaseBackend({ clock: time })
const [a, b] = [new esm.Simba({ backend, clock: time }), new cjs.Simba({ backend, clock: time })]
const held = await time.until(a.lock('x').acquire(), { within: 1_000 })
assert.equal(await time.until(b.lock('x').tryAcquire(), { within: 1_000 }), undefined)
await time.until(held.release(), { within: 1_000 })
const other = await time.until(b.lock('x').acquire({ timeout: '1m' }), { within: 60_000 })
assert.ok(other.token > held.token)

const error = await b.lock('y').acquire({ timeout: 'soon' }).catch((reason) => reason)
assert.ok(error instanceof cjs.ConfigError)
assert.ok(esm.isSimbaError(error, 'SIMBA_CONFIG'), 'an error of one copy is known to the other')
assert.ok(new cjsTesting.VirtualTime() instanceof cjsTesting.VirtualTime)
await time.until(Promise.all([a.close(), b.close()]), { within: 60_000 })
time.dispose()
`

async function jest(folder, checks) {
  const suite = readFileSync(join(root, 'packages/tck/test/runners/jest.test.cjs'), 'utf8')
  const project = join(folder, 'jest')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  writeFileSync(join(project, 'suites.test.js'), suite)
  const bin = join(folder, 'node_modules', 'jest', 'bin', 'jest.js')
  const { ok, output } = await run(process.execPath, [bin, '--ci'], { cwd: project, env: { NO_COLOR: '1' } })
  const [, passed = '0'] = /Tests:.*?(\d+) passed/.exec(output) ?? []
  checks.add('the contract suites pass under jest', ok && Number(passed) > 0, output)
  checks.note(`jest: ${passed} cases of the contract suites passed`)
}

if (isMain(import.meta.url)) {
  const { passed, failed, output, note } = await packaging()
  console.log(`${output}\n${note}\n${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}
