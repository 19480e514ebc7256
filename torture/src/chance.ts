/** Seeded chance: the same seed chooses the same faults, though real processes never meet them at the same moment twice. */
export class Chance {
  #word: number

  constructor(seed: number) {
    this.#word = seed | 0
  }

  /** From 0 up to but not including 1: mulberry32. */
  next(): number {
    this.#word = (this.#word + 0x6d2b79f5) | 0
    let word = this.#word
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min)
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.next() * choices.length)]
    if (choice === undefined) throw new Error('There is nothing to choose from.')
    return choice
  }
}
