/** A list whose length the compiler knows, so that its items can be taken apart without a check. */
export type Several<T, N extends number> = number extends N ? T[] : Exactly<T, N, []>

type Exactly<T, N extends number, Items extends T[]> = Items['length'] extends N
  ? Items
  : Exactly<T, N, [...Items, T]>

export function several<T, N extends number>(count: N, make: (index: number) => T): Several<T, N>
export function several<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

/**
 * Waits for all of them, then rejects as the first that rejected: unlike `Promise.all`, it leaves nothing running that would disturb what
 * comes next.
 */
export async function all<const T extends readonly unknown[]>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

export function inParallel<T, N extends number>(
  count: N,
  make: (index: number) => Promise<T>,
): Promise<Several<T, N>>
export function inParallel<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return all(several(count, make))
}
