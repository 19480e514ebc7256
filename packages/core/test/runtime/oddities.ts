/** What a backend or driver may throw although nobody should. */
const circle: { self?: unknown } = {}
circle.self = circle
const bare: { self?: unknown } = Object.create(null)
bare.self = bare
const trap = new Error('trap')
Object.defineProperty(trap, 'message', {
  get() {
    throw new Error('the message cannot be read')
  },
})
const revoked = Proxy.revocable({}, {})
revoked.revoke()

export const oddities: readonly { readonly what: string; readonly value: unknown }[] = [
  { what: 'undefined', value: undefined },
  { what: 'a symbol', value: Symbol('odd') },
  { what: 'a bigint', value: 7n },
  { what: 'a function', value: () => {} },
  { what: 'a circle', value: circle },
  { what: 'a circle without a prototype', value: bare },
  {
    what: 'an object whose toString throws',
    value: {
      toJSON: null,
      toString: () => {
        throw new Error('no')
      },
      self: circle,
    },
  },
  { what: 'an error whose message throws', value: trap },
  {
    what: 'an error whose message is a number',
    value: Object.assign(new Error('odd'), { message: 5, name: 6, stack: 7 }),
  },
  {
    what: 'an error whose code is a symbol',
    value: Object.assign(new Error('odd'), { code: Symbol('odd') }),
  },
  { what: 'an error whose code is a bare object', value: Object.assign(new Error('odd'), { code: bare }) },
  { what: 'a revoked proxy', value: revoked.proxy },
]
