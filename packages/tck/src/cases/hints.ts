import type { Hint, HintSubscription, HintTopic, LeaseBackend } from '@simba/core'
import type { SpecTopic } from '../case.js'
import { broken, must, show } from '../rules.js'
import type { SpecSession } from '../session.js'
import { all } from '../several.js'
import type { World } from '../world.js'

export const hintsTopic: SpecTopic = {
  title: 'hints',
  cases: [
    {
      title: 'a released hint comes for a watched lease after a release',
      needs: 'hints',
      run: (world) => hintFollows(world, leaseTopic(world), releaseOf),
    },
    {
      title: 'a released hint comes for a watched lease after closeSession of its owner',
      needs: 'hints',
      run: (world) =>
        hintFollows(world, leaseTopic(world), async (owner, name) => {
          await owner.take(name)
          return () => owner.closeSession()
        }),
    },
    {
      title: 'a members hint comes for a watched group after a join',
      needs: 'hints',
      run: (world) => hintFollows(world, groupTopic(world), joinOf),
    },
    {
      title: 'a members hint comes for a watched group after a leave',
      needs: 'hints',
      run: (world) =>
        hintFollows(world, groupTopic(world), async (member, group) => {
          await member.enter(group)
          return () => member.leave(group)
        }),
    },
    {
      title: 'a members hint comes for a watched group after closeSession of a member',
      needs: 'hints',
      run: (world) =>
        hintFollows(world, groupTopic(world), async (member, group) => {
          await member.enter(group)
          return () => member.closeSession()
        }),
    },
    {
      title: 'every one of fifty watched leases gets its hints',
      needs: 'hints',
      run: async (world) => {
        const ear = listen(world)
        const topics = world.names(50).map((name): HintTopic => ({ kind: 'lease', name }))
        for (const topic of topics) ear.subscription.watch(topic)
        for (const topic of topics) await ear.hearsSoon(topic, releaseOf)
        await ear.subscription.close()
      },
    },
    {
      title: 'no hint comes any more once a topic is not watched, and others go on',
      needs: 'hints',
      run: async (world) => {
        const [ear, control] = [listen(world), listen(world)]
        const [dropped, kept] = [leaseTopic(world), leaseTopic(world)]
        for (const { subscription } of [ear, control])
          for (const topic of [dropped, kept]) subscription.watch(topic)
        await ear.hearsSoon(dropped, releaseOf)
        await ear.hearsSoon(kept, releaseOf)
        ear.subscription.unwatch(dropped)
        // The storage may be slow to hear of it; what is on its way may still come.
        const quiet = await world.eventually(world.settings.hintMs, async () => {
          const before = ear.count(dropped)
          await control.hearsSoon(dropped, releaseOf)
          return ear.count(dropped) === before
        })
        must(quiet, 'hints', 'after unwatch, hints for the topic went on coming', 'heed unwatch')
        await ear.hearsSoon(kept, releaseOf)
        ear.subscription.watch(dropped)
        await ear.hearsSoon(dropped, releaseOf)
        await ear.subscription.close()
        await control.subscription.close()
      },
    },
    {
      title: 'no hint comes any more after close of the subscription, and other subscriptions go on',
      needs: 'hints',
      run: async (world) => {
        const [ear, control] = [listen(world), listen(world)]
        const topics = [leaseTopic(world), groupTopic(world)]
        for (const { subscription } of [ear, control]) for (const topic of topics) subscription.watch(topic)
        const cause = { lease: releaseOf, group: joinOf }
        for (const topic of topics) await ear.hearsSoon(topic, cause[topic.kind])
        await ear.subscription.close()
        const before = ear.heard.length
        for (const topic of topics) await control.hearsSoon(topic, cause[topic.kind])
        await control.subscription.close()
        must(
          ear.heard.length === before,
          'hints',
          `after close of the subscription had settled, it delivered ${show(ear.heard.slice(before))}`,
          'deliver nothing once close has settled',
        )
      },
    },
    {
      title: 'watch, unwatch and close are idempotent, never throw, and work in any order',
      needs: 'hints',
      run: async (world) => {
        const ear = listen(world)
        const [watched, never] = [leaseTopic(world), groupTopic(world)]
        ear.subscription.watch(watched)
        ear.subscription.watch(watched)
        await ear.hearsSoon(watched, releaseOf)
        ear.subscription.unwatch(never)
        ear.subscription.unwatch(watched)
        ear.subscription.unwatch(watched)
        await all([ear.subscription.close(), ear.subscription.close()])
        await ear.subscription.close()
        ear.subscription.watch(watched)
        ear.subscription.unwatch(watched)
        await ear.subscription.close()
        await listen(world).subscription.close()
      },
    },
  ],
}

/** Prepares a session; gives what brings a hint. */
type Cause = (session: SpecSession, name: string) => Promise<() => Promise<unknown>>

function leaseTopic(world: World): HintTopic & { readonly kind: 'lease' } {
  return { kind: 'lease', name: world.name() }
}

function groupTopic(world: World): HintTopic & { readonly kind: 'group' } {
  return { kind: 'group', group: world.name() }
}

const releaseOf: Cause = async (owner, name) => {
  const token = await owner.take(name)
  return () => owner.release(name, token)
}

const joinOf: Cause = async (member, group) => () => member.enter(group)

async function hintFollows(world: World, topic: HintTopic, cause: Cause): Promise<void> {
  const ear = listen(world)
  ear.subscription.watch(topic)
  await ear.hearsSoon(topic, cause)
  await ear.subscription.close()
}

interface Ear {
  readonly subscription: HintSubscription
  readonly heard: readonly Hint[]
  count(topic: HintTopic): number
  /** Fails unless the cause brings a hint; repeats it, since a subscription may take a while to begin. */
  hearsSoon(topic: HintTopic, cause: Cause): Promise<void>
}

function listen(world: World, on: LeaseBackend = world.backend): Ear {
  if (on.hints === undefined)
    broken('capabilities', 'the backend has no method hints', 'write it, or do not declare it')
  const heard: Hint[] = []
  const subscription = on.hints((hint) => heard.push(hint))
  const count = (topic: HintTopic) =>
    heard.filter((hint) =>
      hint.kind === 'released'
        ? topic.kind === 'lease' && hint.name === topic.name
        : topic.kind === 'group' && hint.group === topic.group,
    ).length
  const hearsSoon = async (topic: HintTopic, cause: Cause) => {
    const attemptMs = world.settings.hintMs / 4
    for (let attempt = 0; attempt < 4; attempt++) {
      const session = await world.open({ on: world.peer })
      const act = await cause(session, topic.kind === 'lease' ? topic.name : topic.group)
      // What the preparation made known is to arrive before, and not to count.
      await world.advance(20)
      const before = count(topic)
      await act()
      if (await world.eventually(attemptMs, () => count(topic) > before)) return
    }
    broken(
      'hints',
      `four times within ${world.settings.hintMs} ms, something happened to ${show(topic)}, which was watched, but no hint came; ` +
        `heard were ${show(heard.slice(-3))}`,
      'deliver released after release and closeSession, and members after join, leave and closeSession; ' +
        'or declare capabilities: { hints: false } and have no such method',
    )
  }
  return { subscription, heard, count, hearsSoon }
}
