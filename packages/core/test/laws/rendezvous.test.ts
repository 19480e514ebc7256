import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { ownerOf, partitionsOf, weightOf } from '../../src/rendezvous.js'

/** On a busy machine: what runs here is bounded by its number of runs. */
vi.setConfig({ testTimeout: 30_000 })

const MASK = (1n << 64n) - 1n

/** The weight as it is defined, on whole 64-bit numbers. */
function weightByDefinition(partition: number, member: string): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(`${partition}@${member}`))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK
  let mixed = (hash + 0x9e3779b97f4a7c15n) & MASK
  mixed = ((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK
  return mixed ^ (mixed >> 31n)
}

const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 })
const member = fc.oneof(hex, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }))
const members = fc.uniqueArray(member, { minLength: 1, maxLength: 12 })
const partition = fc.nat({ max: 100_000 })

test('a weight is what its definition says, of any partition and member', () => {
  fc.assert(
    fc.property(partition, member, (partition, member) => {
      const { high, low } = weightOf(partition, member)
      expect((BigInt(high) << 32n) | BigInt(low)).toBe(weightByDefinition(partition, member))
    }),
    { numRuns: 2_000 },
  )
})

test('every node finds the same owner, in whatever order it knows the members, and however often', () => {
  const shuffled = members.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
  )
  fc.assert(
    fc.property(partition, shuffled, (partition, [all, other]) => {
      const owner = ownerOf(partition, all)
      expect(ownerOf(partition, other)).toBe(owner)
      expect(all).toContain(owner)
      const greatest = weightByDefinition(partition, owner ?? '')
      expect(all.filter((member) => weightByDefinition(partition, member) > greatest)).toEqual([])
    }),
  )
})

test('each partition is run by one member', () => {
  fc.assert(
    fc.property(members, fc.nat({ max: 40 }), (members, partitions) => {
      const all = members.flatMap((member) => partitionsOf(member, members, partitions))
      expect(all.sort((a, b) => a - b)).toEqual(
        Array.from({ length: partitions }, (_, partition) => partition),
      )
    }),
  )
})

test('a member that comes takes partitions from others and moves none between them; as it goes, all is as before', () => {
  fc.assert(
    fc.property(fc.uniqueArray(member, { minLength: 2, maxLength: 12 }), (all) => {
      const [comer = '', ...before] = all
      for (let partition = 0; partition < 64; partition += 1) {
        const owner = ownerOf(partition, all)
        if (owner !== comer) expect(owner).toBe(ownerOf(partition, before))
      }
    }),
  )
})

test('nobody runs the partitions of a group without members, and a stranger runs none', () => {
  expect(ownerOf(0, [])).toBeUndefined()
  expect(partitionsOf('stranger', ['a', 'b'], 64)).toEqual([])
})

describe('sessions of one group', () => {
  test.each([2, 3, 5, 10])('share its partitions evenly: %i members', (count) => {
    const PARTITIONS = 4_000
    const session = fc.uniqueArray(hex, { minLength: count, maxLength: count })
    fc.assert(
      fc.property(session, (sessions) => {
        const fair = PARTITIONS / count
        // Six standard deviations of a fair draw: a hash that is any worse than that is skewed.
        const slack = 6 * Math.sqrt(fair * (1 - 1 / count))
        for (const session of sessions) {
          expect(Math.abs(partitionsOf(session, sessions, PARTITIONS).length - fair)).toBeLessThan(slack)
        }
      }),
      { numRuns: 5 },
    )
  })
})
