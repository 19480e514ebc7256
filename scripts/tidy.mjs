/** Rules that no other tool checks. Each failure names the place, what is wrong, and what to do. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { isMain, packages, root } from './workspace.mjs'

const LONGEST_FILE = 400

/** Where the only reading of a source of time, timers or chance is allowed. */
const SINGLE_PLACES = [
  { what: /\bDate\.now\(/, in: ['packages/core/src/runtime/system-clock.ts'] },
  { what: /\bsetTimeout\(/, in: ['packages/core/src/runtime/system-clock.ts'] },
  { what: /\bMath\.random\(/, in: ['packages/core/src/runtime/random.ts'] },
]

const rules = {
  'no file is too long': ({ path, text }) => {
    const lines = text.split('\n').length
    if (/\.(ts|mjs)$/.test(path) && lines > LONGEST_FILE) {
      return [
        `has ${lines} lines, more than ${LONGEST_FILE}: find the second subject in it, and give that a file`,
      ]
    }
  },
  'no default export': ({ path, text }) =>
    /\.ts$/.test(path) && !path.endsWith('.config.ts') && /^export default\b/m.test(text)
      ? ['has a default export: name it']
      : [],
  'no vague file names': ({ path }) =>
    /(^|[/.-])(utils?|helpers?|managers?|common|misc)([/.-]|$)/.test(path)
      ? ['is named for nothing: say what is in it']
      : [],
  'time and chance come from one place': ({ path, text }) =>
    isSource(path)
      ? SINGLE_PLACES.flatMap(({ what, in: places }) => {
          const own = path.startsWith('packages/core/')
            ? places
            : [`${dirname(path).split('/src')[0]}/src/runtime.ts`]
          return what.test(text) && !own.includes(path)
            ? [`uses ${what.source}: take it from what is injected`]
            : []
        })
      : [],
  'no import of what is not a dependency': ({ path, text }) => {
    const core = path.startsWith('packages/core/src/')
    return core
      ? [...text.matchAll(/from '([^'.][^']*)'/g)].flatMap(([, name]) =>
          name.startsWith('node:') ? [] : [`imports ${name}: core depends on nothing`],
        )
      : []
  },
  'links lead somewhere': ({ path, text }) =>
    path.endsWith('.md')
      ? [...text.matchAll(/\]\(([^)#\s]+)(#[^)\s]*)?\)/g)].flatMap(([, link]) => {
          if (/^[a-z]+:/.test(link)) return []
          return existsSync(join(root, dirname(path), link)) ? [] : [`links to ${link}, which is not there`]
        })
      : [],
  'headings that are linked to exist': ({ path, text }) =>
    path.endsWith('.md')
      ? [...text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)].flatMap(([, link, anchor]) => {
          if (/^[a-z]+:/.test(link)) return []
          const target = link === '' ? path : normalize(join(dirname(path), link))
          if (!existsSync(join(root, target)) || !target.endsWith('.md')) return []
          return anchorsOf(readFileSync(join(root, target), 'utf8')).has(anchor)
            ? []
            : [`links to ${target}#${anchor}, which has no such heading`]
        })
      : [],
  'the lock file names no registry': ({ path, text }) =>
    path === 'package-lock.json' && /"resolved": "https?:/.test(text)
      ? ['has resolved addresses: see .npmrc, and make it again with npm install']
      : [],
}

/** Over the whole tree. */
const wholes = {
  'sources import each other in no circle': (files) => circles(files),
  'packages agree': () => disagreements(),
}

export async function tidy() {
  const files = trackedFiles()
  const output = []
  let passed = 0
  let failed = 0
  const count = (name, found) => {
    if (found.length === 0) passed++
    else {
      failed++
      output.push(`${name}:`, ...found.map((line) => `  ${line}`))
    }
  }
  for (const [name, rule] of Object.entries(rules)) {
    count(
      name,
      files.flatMap((file) => (rule(file) ?? []).map((wrong) => `${file.path} ${wrong}`)),
    )
  }
  for (const [name, rule] of Object.entries(wholes)) count(name, rule(files))
  return { passed, failed, output: output.join('\n') }
}

function trackedFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.(ts|mjs|cjs|js|json|md|sql|sh)$|^\.ci\//.test(path) && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

function isSource(path) {
  return /^packages\/(core|sql|tck)\/src\/.*\.ts$/.test(path)
}

function anchorsOf(markdown) {
  return new Set(
    [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}

function circles(files) {
  const imports = new Map()
  for (const { path, text } of files) {
    if (!/\/src\/.*\.ts$/.test(path)) continue
    const targets = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, to]) =>
      normalize(join(dirname(path), to)).replace(/\.js$/, '.ts'),
    )
    imports.set(path, targets)
  }
  const found = []
  const done = new Set()
  const visit = (path, way) => {
    const at = way.indexOf(path)
    if (at >= 0) {
      found.push(`${[...way.slice(at), path].join(' → ')}: move what both need to a place below them`)
      return
    }
    if (done.has(path)) return
    for (const target of imports.get(path) ?? []) visit(target, [...way, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  return found
}

function disagreements() {
  const all = packages()
  const [first] = all
  return all.flatMap(({ folder, manifest }) => {
    const place = relative(root, join(folder, 'package.json'))
    const wrong = []
    for (const field of ['version', 'license', 'engines', 'type', 'sideEffects']) {
      const [own, other] = [manifest[field], first.manifest[field]].map((value) => JSON.stringify(value))
      if (own !== other)
        wrong.push(`${place} has ${field} ${own}, ${first.name} has ${other}: make them the same`)
    }
    if (!manifest.description) wrong.push(`${place} has no description`)
    for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
      const own = all.find((candidate) => candidate.name === name)
      if (own !== undefined && own.manifest.version !== version) {
        wrong.push(`${place} depends on ${name} ${version}, which is at ${own.manifest.version}`)
      }
    }
    return wrong
  })
}

if (isMain(import.meta.url)) {
  const { passed, failed, output } = await tidy()
  console.log(`${output}\n${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}
