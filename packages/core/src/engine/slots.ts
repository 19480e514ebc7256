/**
 * Where elections live. Timers and attempts, which are most of the traffic, find theirs by the number of its slot: with 100,000 names,
 * looking one up in a hash table costs more than all that the engine then does with it (ADR 0014).
 */
import type { Slot } from './effect.js'
import type { Election, EngineState } from './state.js'

/** The slot for the next election. */
export function freeSlot({ slots }: EngineState): Slot {
  return slots.free.pop() ?? slots.elections.length
}

export function settle(state: EngineState, election: Election): void {
  state.slots.elections[election.slot] = election
  state.elections.set(election.name, election)
}

/** Frees the slot and the name. What still bears the slot's number is told apart by its own number, or comes too early to matter. */
export function vacate(state: EngineState, { name, slot }: Election): void {
  state.elections.delete(name)
  state.slots.elections[slot] = undefined
  state.slots.free.push(slot)
}
