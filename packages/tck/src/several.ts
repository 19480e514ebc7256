/** A list whose length the compiler knows, so that its items can be taken apart without a check. */
export type Several<T, N extends number> = number extends N ? T[] : Exactly<T, N, []>

type Exactly<T, N extends number, Items extends T[]> = Items['length'] extends N
  ? Items
  : Exactly<T, N, [...Items, T]>

export function several<T, N extends number>(count: N, make: (index: number) => T): Several<T, N>
export function several<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

export function inParallel<T, N extends number>(
  count: N,
  make: (index: number) => Promise<T>,
): Promise<Several<T, N>>
export function inParallel<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(several(count, make))
}
