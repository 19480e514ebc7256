/** Seeded randomness. Each part of a world draws from a stream of its own, so that leaving one part out does not change the others. */
export class Random {
  readonly #seed: number
  #word: number

  constructor(seed: number) {
    this.#seed = seed | 0
    this.#word = scramble(seed | 0)
  }

  /** A stream of its own: it depends on the seed and the label, and on nothing that was drawn before. */
  fork(label: string): Random {
    let hash = this.#seed
    for (let index = 0; index < label.length; index++) {
      hash = scramble(Math.imul(hash, 31) + label.charCodeAt(index))
    }
    return new Random(hash)
  }

  /** A number in [0, 1): mulberry32. */
  next(): number {
    this.#word = (this.#word + 0x6d2b79f5) | 0
    return scramble(this.#word) / 2 ** 32 + 0.5
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min)
  }

  /** Small values as often as large ones. */
  logBetween(min: number, max: number): number {
    return min * (max / min) ** this.next()
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** A time until the next of events that come by themselves, on average once per `mean`. */
  interval(mean: number): number {
    return -mean * Math.log(1 - this.next())
  }

  pick<T>(choices: readonly [T, ...T[]] | readonly T[]): T {
    const choice = choices[Math.floor(this.next() * choices.length)]
    if (choice === undefined) throw new Error('Random.pick: nothing to choose from.')
    return choice
  }
}

function scramble(value: number): number {
  let word = value | 0
  word = Math.imul(word ^ (word >>> 15), word | 1)
  word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
  return word ^ (word >>> 14)
}
