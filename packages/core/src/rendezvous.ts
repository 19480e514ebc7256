/**
 * Which member of a group runs which partition: rendezvous hashing. Every node computes the same from the same members, and a member that
 * comes or goes moves only the partitions that it gains or loses.
 *
 * Frozen: nodes in other languages share a group with ours, so this must never change within a major version. The weight is FNV-1a 64
 * over the UTF-8 of "{partition}@{member}", mixed with SplitMix64 (increment, then finaliser), compared unsigned; ties go to the
 * lexicographically smaller member. A 64-bit number is two halves here: views of many partitions are computed on the main thread, and
 * BigInt is fifty times slower.
 */
import type { SessionId } from './backend.js'

/** A weight as two unsigned 32-bit halves. */
export interface Weight {
  readonly high: number
  readonly low: number
}

const encoder = new TextEncoder()

/** The member that runs the partition; `undefined` if there is no member. */
export function ownerOf(partition: number, members: readonly SessionId[]): SessionId | undefined {
  let owner: SessionId | undefined
  let greatest: Weight = { high: 0, low: 0 }
  for (const member of members) {
    const weight = weightOf(partition, member)
    const order = owner === undefined ? 1 : compare(weight, greatest)
    if (order > 0 || (order === 0 && owner !== undefined && member < owner)) {
      owner = member
      greatest = weight
    }
  }
  return owner
}

/** The partitions, of 0 to `partitions` - 1, that this member runs. */
export function partitionsOf(member: SessionId, members: readonly SessionId[], partitions: number): number[] {
  const own: number[] = []
  for (let partition = 0; partition < partitions; partition += 1) {
    if (ownerOf(partition, members) === member) own.push(partition)
  }
  return own
}

export function weightOf(partition: number, member: SessionId): Weight {
  const hash = fnv1a(encoder.encode(`${partition}@${member}`))
  return splitMix(hash)
}

function compare(a: Weight, b: Weight): number {
  return a.high === b.high ? a.low - b.low : a.high - b.high
}

function fnv1a(bytes: Uint8Array): Weight {
  let high = 0xcbf29ce4
  let low = 0x84222325
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0
    // Times the prime 2^40 + 0x1b3.
    const product = low * 0x1b3
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0
    low = product >>> 0
  }
  return { high, low }
}

function splitMix(word: Weight): Weight {
  const sum = word.low + 0x7f4a7c15
  let mixed: Weight = { high: (word.high + 0x9e3779b9 + (sum > 0xffffffff ? 1 : 0)) >>> 0, low: sum >>> 0 }
  mixed = multiply(shiftXor(mixed, 30), 0xbf58476d, 0x1ce4e5b9)
  mixed = multiply(shiftXor(mixed, 27), 0x94d049bb, 0x133111eb)
  return shiftXor(mixed, 31)
}

/** word ^ (word >>> bits), for 0 < bits < 32. */
function shiftXor({ high, low }: Weight, bits: number): Weight {
  return {
    high: (high ^ (high >>> bits)) >>> 0,
    low: (low ^ ((low >>> bits) | (high << (32 - bits)))) >>> 0,
  }
}

/** The low 64 bits of the product. */
function multiply({ high, low }: Weight, byHigh: number, byLow: number): Weight {
  const lowLow = (low & 0xffff) * (byLow & 0xffff)
  const lowHigh = (low & 0xffff) * (byLow >>> 16)
  const highLow = (low >>> 16) * (byLow & 0xffff)
  const middle = Math.floor(lowLow / 65536) + (lowHigh & 0xffff) + (highLow & 0xffff)
  const carry =
    (low >>> 16) * (byLow >>> 16) + (lowHigh >>> 16) + (highLow >>> 16) + Math.floor(middle / 65536)
  return {
    high: (Math.imul(high, byLow) + Math.imul(low, byHigh) + (carry >>> 0)) >>> 0,
    low: (((middle & 0xffff) << 16) | (lowLow & 0xffff)) >>> 0,
  }
}
