export interface Child {
  hear(): Promise<unknown>
  say(what: unknown): void
  forget(): void
  kill(): void
  stop(): Promise<void>
}

export function startChild(script: string, ...args: string[]): Child
