/**
 * The TypeScript in the Markdown files. The word after `ts` in a fence says what is done with a block: `run` is type-checked and run,
 * nothing is type-checked, `no-check` is a fragment.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspace.mjs'

/** `{ path, line, kind: 'run' | 'check', code }`, in the order of the files. */
export function codeBlocks() {
  const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
  return paths
    .split('\n')
    .filter((path) => path !== '')
    .flatMap((path) => blocksOf(path, readFileSync(join(root, path), 'utf8')))
}

function blocksOf(path, text) {
  return [...text.matchAll(/^```ts(?: (.*))?\n([\s\S]*?)^```$/gm)].flatMap(
    ({ 1: word = '', 2: code, index }) => {
      if (word === 'no-check') return []
      if (word !== '' && word !== 'run')
        throw new Error(`${path}: a fence says "ts ${word}"; there are run and no-check.`)
      const line = text.slice(0, index).split('\n').length + 1
      return [{ path, line, kind: word === 'run' ? 'run' : 'check', code }]
    },
  )
}

/** The same program for `require`: without `import`, and without `await` outside a function. */
export function asCommonJs(code) {
  const imports = []
  const body = code.replace(/^import \{([^}]*)\} from '([^']*)';?$/gm, (_, names, from) => {
    const values = names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
    if (values.length > 0)
      imports.push(`const { ${values.join(', ').replaceAll(' as ', ': ')} } = require('${from}')`)
    return ''
  })
  const caught = '.catch((error) => {\n  console.error(error)\n  process.exitCode = 1\n})'
  return `${imports.join('\n')}\n;(async () => {\n${body}\n})()${caught}\n`
}
