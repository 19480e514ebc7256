import type { SpecTopic } from '../case.js'
import { broken, must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import type { World } from '../world.js'

export const takeoverTopic: SpecTopic = {
  title: 'takeover',
  cases: [
    {
      title: 'B1: a lease is not granted to another before the time that its owner was told, and soon after',
      run: async (world) => {
        const name = world.name()
        const owner = await world.openShort()
        await owner.take(name)
        await takenOverInTime(world, owner, name, 'without a renewal')
      },
    },
    {
      title: 'B1: a renewed session keeps its leases for the whole time that the renewal told',
      run: async (world) => {
        const name = world.name()
        const owner = await world.openShort()
        await owner.take(name)
        await world.advance(owner.remainingMs * 0.7)
        await owner.renew()
        await takenOverInTime(world, owner, name, 'after a renewal')
      },
    },
    {
      title: 'B3: renewals keep a lease for many lease durations',
      run: async (world) => {
        const name = world.name()
        const [owner, other] = [await world.openShort(), await world.open({ on: world.peer })]
        const token = await owner.take(name)
        for (let i = 1; i <= 6; i++) {
          await world.advance(owner.remainingMs / 2)
          await owner.renew()
          await other.refused(name, owner, 'B3', `after renewal ${i}, each after half a lease duration`)
        }
        const again = await owner.take(name, 'B7', 'after many renewals')
        must(
          again === token,
          'B7',
          `the token was ${token}, and ${again} after many renewals`,
          'keep the term and its token as long as the session lives',
        )
      },
    },
    {
      title: 'B3: a lease acquired between two renewals lives as long as its session',
      run: async (world) => {
        const [early, late] = world.names(2)
        const [owner, other] = [await world.openShort(), await world.open()]
        await owner.take(early)
        await owner.renew()
        await world.advance(owner.remainingMs * 0.4)
        await owner.take(late)
        await world.advance(owner.remainingMs * 0.4)
        await owner.renew()
        await world.advance(owner.remainingMs * 0.8)
        for (const name of [early, late])
          await other.refused(name, owner, 'B3', 'at 0.8 of the time since the last renewal of its session')
        await takenOverInTime(world, owner, late, 'after a renewal that followed its acquire')
      },
    },
    {
      title: 'B3: all leases of a session end with it, whenever they were acquired',
      run: async (world) => {
        const [early, late] = world.names(2)
        const [owner, other] = [await world.openShort(), await world.open({ on: world.peer })]
        await owner.take(early)
        await world.advance(owner.remainingMs * 0.8)
        await owner.take(late)
        await world.expire(owner)
        for (const name of [early, late]) await other.take(name, 'B3', 'after its session had expired')
        await owner.staysExpired('B2', 'after its leases were taken over', early, world.name())
        for (const name of [early, late])
          must(
            (await other.renew()).some((lease) => lease.name === name),
            'B3',
            `the new owner lost "${name}" to calls of the expired session that had it before`,
            'let an expired session change nothing',
          )
      },
    },
    {
      title: 'B3: a lease that nobody took over is free again, for anyone and more than once',
      run: async (world) => {
        const name = world.name()
        for (let i = 0; i < 2; i++) {
          const owner = await world.openShort()
          await owner.take(name, 'B3', 'after its former session had expired')
          await world.expire(owner)
          await world.advance(world.settings.leaseMs / 2)
        }
        const other = await world.open()
        await other.take(name, 'B3', 'after its former session had expired')
      },
    },
  ],
}

/** Tries for the lease of a session that is no longer renewed: refused as long as the session lives, granted when it is over. */
async function takenOverInTime(world: World, owner: SpecSession, name: string, when: string): Promise<void> {
  const other = await world.open({ on: world.peer })
  const stepMs = Math.max(1, world.settings.leaseMs / 50)
  for (;;) {
    const sentAt = world.now()
    const reply = await other.acquire(name)
    const answeredAt = world.now()
    if (reply.kind === 'granted') {
      must(
        answeredAt >= owner.livesUntil,
        'B1',
        `${when}, another session got "${name}" ${Math.round(owner.livesUntil - answeredAt)} ms (or more) too early: ` +
          `its owner had been told ${owner.remainingMs} ms, counted from before its request was sent`,
        'measure expiry and the remaining time told with the same clock, and never tell more than is stored',
      )
      return
    }
    must(
      reply.kind === 'held',
      'B1',
      `acquire of "${name}" by a session with plenty of time answered ${show(reply)}`,
      'answer "held" or "granted" to a live session',
    )
    if (sentAt > owner.deadBy) {
      broken(
        'B1',
        `${when}, "${name}" was still held ${Math.round(sentAt - owner.deadBy)} ms after the session that owned it had to be over ` +
          `(lease duration ${owner.session.leaseMs} ms, tolerance.lateMs ${world.settings.lateMs})`,
        'let acquire take the lease of an expired session without waiting for a clean-up; or give a larger tolerance.lateMs where the storage expires late',
      )
    }
    await world.advance(stepMs)
  }
}
