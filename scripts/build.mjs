/** Builds every package twice: as ES modules, and as CommonJS for `require` and jest (ADR 0011). */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain, main, must, packages, root } from './workspace.mjs'

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

export async function build() {
  for (const { folder } of packages()) dropStale(folder)
  await must(process.execPath, [tsc, '-b'])
  const [core, ...others] = packages()
  await buildCommonJs(core) // the others are compiled against it
  await Promise.all(others.map(buildCommonJs))
}

async function buildCommonJs({ folder }) {
  const out = join(folder, 'dist', 'cjs')
  if (newest(out) > newest(join(folder, 'dist', 'esm'))) return
  rmSync(out, { recursive: true, force: true })
  const off = ['composite', 'verbatimModuleSyntax'].flatMap((option) => [`--${option}`, 'false'])
  const options = ['--module', 'commonjs', '--moduleResolution', 'bundler', ...off, '--outDir', out]
  await must(process.execPath, [tsc, '-p', folder, ...options])
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, 'package.json'), '{ "type": "commonjs" }\n')
}

/** What a deleted or renamed source left behind would be published: then all is built anew. */
function dropStale(folder) {
  const built = join(folder, 'dist', 'esm')
  const stale = filesIn(built).some(
    (file) =>
      file.endsWith('.js') &&
      !existsSync(join(folder, 'src', file.slice(built.length).replace(/\.js$/, '.ts'))),
  )
  if (!stale) return
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  for (const file of readdirSync(folder)) if (file.endsWith('.tsbuildinfo')) rmSync(join(folder, file))
}

function newest(folder) {
  return filesIn(folder).reduce((latest, file) => Math.max(latest, statSync(file).mtimeMs), 0)
}

function filesIn(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}

if (isMain(import.meta.url)) await main(build)
