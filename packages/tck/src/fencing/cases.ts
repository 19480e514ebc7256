import type { FencedResource } from './options.js'
import { accepts, refuses } from './rules.js'

/** One rule, put to the test on a fresh resource. */
export interface FencingCase {
  readonly title: string
  readonly run: (resource: FencedResource) => Promise<void>
}

export const fencingCases: readonly FencingCase[] = [
  {
    title: 'the first write is accepted',
    run: (resource) => accepts(resource, 1n, 'first', 'first', 'that was the first'),
  },
  {
    title: 'the first write is accepted with a large token too',
    run: (resource) => accepts(resource, 2n ** 62n + 1n, 'first', 'first', 'that was the first'),
  },
  {
    title: 'larger tokens are accepted, with gaps of any size',
    run: async (resource) => {
      let before = 0n
      for (const token of [1n, 2n, 5n, 1_000n, 2n ** 31n, 2n ** 32n, 2n ** 40n]) {
        await accepts(resource, token, `by ${token}`, 'larger', `after ${before}`)
        before = token
      }
    },
  },
  {
    title: 'a smaller token is refused, and the value stays',
    run: async (resource) => {
      await accepts(resource, 8n, 'by 8', 'first', 'that was the first')
      await refuses(resource, 7n, 'smaller', 'after 8')
      await refuses(resource, 1n, 'smaller', 'after 8')
    },
  },
  {
    title: 'a smaller token is refused however often it is tried, and larger ones are accepted after that',
    run: async (resource) => {
      await accepts(resource, 7n, 'by 7', 'first', 'that was the first')
      await accepts(resource, 8n, 'by 8', 'larger', 'after 7')
      for (let i = 1; i <= 20; i++) await refuses(resource, 7n, 'smaller', `after 8, for the ${i}th time`)
      await accepts(resource, 8n, 'again by 8', 'equal', 'after refused writes with token 7')
      await accepts(resource, 9n, 'by 9', 'larger', 'after 8 and refused writes with token 7')
      await refuses(resource, 8n, 'smaller', 'after 9')
    },
  },
  {
    title: 'an equal token is accepted with a new value',
    run: async (resource) => {
      await accepts(resource, 5n, 'one', 'first', 'that was the first')
      await accepts(resource, 5n, 'two', 'equal', 'after 5')
      await accepts(resource, 5n, 'three', 'equal', 'after 5 twice')
    },
  },
  {
    title: 'an equal token is accepted with the same value: a write whose answer was lost is repeated',
    run: async (resource) => {
      for (let i = 0; i < 3; i++)
        await accepts(resource, 5n, 'the same', i === 0 ? 'first' : 'equal', 'and the same value each time')
      await refuses(resource, 4n, 'smaller', 'after 5 three times')
    },
  },
  {
    title: 'a larger token is accepted with the same value, and counts',
    run: async (resource) => {
      await accepts(resource, 5n, 'the same', 'first', 'that was the first')
      await accepts(resource, 6n, 'the same', 'larger', 'after 5, with the value that was there')
      await refuses(resource, 5n, 'smaller', 'after 6, which wrote the value that was there')
    },
  },
  {
    title: 'tokens are compared as numbers, not as texts',
    run: async (resource) => {
      await accepts(resource, 9n, 'by 9', 'first', 'that was the first')
      await accepts(resource, 10n, 'by 10', 'numeric', 'after 9')
      await refuses(resource, 9n, 'numeric', 'after 10')
      await accepts(resource, 99n, 'by 99', 'numeric', 'after 10')
      await accepts(resource, 100n, 'by 100', 'numeric', 'after 99')
      await refuses(resource, 20n, 'numeric', 'after 100')
    },
  },
  {
    title: 'tokens above 2^53 are compared exactly',
    run: async (resource) => {
      for (const base of [2n ** 53n, 2n ** 60n]) {
        await accepts(resource, base, `by ${base}`, 'numeric', 'larger than all before')
        await accepts(resource, base + 1n, `by ${base + 1n}`, 'numeric', `after ${base}`)
        await refuses(resource, base, 'numeric', `after ${base + 1n}`)
        await accepts(resource, base + 1n, 'again', 'numeric', `after ${base + 1n}`)
      }
    },
  },
  {
    title: 'the largest tokens there are, up to 2^63 - 1, are compared exactly',
    run: async (resource) => {
      const largest = 2n ** 63n - 1n
      await accepts(resource, largest - 2n, 'almost', 'numeric', 'that was the first')
      await accepts(resource, largest, 'largest', 'numeric', `after ${largest - 2n}`)
      await refuses(resource, largest - 1n, 'numeric', `after ${largest}`)
      await refuses(resource, 1n, 'numeric', `after ${largest}`)
    },
  },
  {
    title: 'a refused token is not remembered',
    run: async (resource) => {
      await accepts(resource, 10n, 'by 10', 'first', 'that was the first')
      await refuses(resource, 3n, 'smaller', 'after 10')
      await refuses(resource, 5n, 'smaller', 'after 10 and a refused 3')
      await refuses(resource, 9n, 'smaller', 'after 10 and a refused 5')
      await accepts(resource, 10n, 'again by 10', 'equal', 'after 10 and refused smaller ones')
    },
  },
]
