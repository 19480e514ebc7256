/** Colours, for a terminal only. */

export interface Paint {
  /** In the node's own colour; its name by default. */
  node(name: string, text?: string): string
  heading(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
}

type Code = readonly [number, number]

const NODES: readonly Code[] = [
  [36, 39],
  [33, 39],
  [35, 39],
  [34, 39],
  [32, 39],
  [96, 39],
  [93, 39],
  [95, 39],
  [94, 39],
]

export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const coloured = stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  const wrap = (text: string, ...codes: readonly Code[]) =>
    coloured ? codes.reduce((inner, [on, off]) => `\x1b[${on}m${inner}\x1b[${off}m`, text) : text
  const bold: Code = [1, 22]
  return {
    node: (name, text = name) => wrap(text, NODES[name.charCodeAt(0) - 97] ?? [39, 39], bold),
    heading: (text) => wrap(text, bold),
    dim: (text) => wrap(text, [2, 22]),
    good: (text) => wrap(text, [32, 39], bold),
    bad: (text) => wrap(text, [31, 39], bold),
  }
}
