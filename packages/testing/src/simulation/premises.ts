/** What the proof rests on, each to be broken on purpose: the laws must then be seen to fail, or the checker is blind. */

export type Premise =
  /** Of the world, broken by the simulation itself. */
  | {
      readonly kind: 'world'
      readonly name: WorldPremise
      /** How far each clock's rate may be from true time. */
      readonly drift?: number
    }
  /** Of the program: a defect that is put into it. */
  | { readonly kind: 'program'; readonly name: string }

export const WORLD_PREMISES = {
  drift: 'the rates of two clocks differ by no more than the drift that the client allows for',
  'clock-step': "the backend's clock is never set forward",
  'token-reset': 'the backend never gives out a token twice',
  'unnoticed-sleep': "the machine's clocks tell that it slept",
  'granted-to-all': 'the backend grants a lease to one session at a time',
  'immortal-request': 'a request takes effect before it is answered, or never',
} as const

export type WorldPremise = keyof typeof WORLD_PREMISES

export function isWorldPremise(name: string): name is WorldPremise {
  return Object.hasOwn(WORLD_PREMISES, name)
}
