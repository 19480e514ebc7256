/** A call that would wait for itself does not wait; the same call from outside does, also from handlers that a run has installed. */
import { EventEmitter, once } from 'node:events'
import { createServer, get } from 'node:http'
import { Schedule, type Simba, type Term } from '@simba/core'
import { describe, expect } from 'vitest'
import { test, VALID, type World } from './world.js'

type Call = () => Promise<unknown>

/** Ways in which code makes a call and waits for it. */
const PLACES: { readonly [place: string]: (call: Call, world: World) => Promise<unknown> } = {
  'at once': (call) => call(),
  async 'after an await'(call, { time }) {
    await time.sleep(10)
    await call()
  },
  async 'in nested async functions'(call, { time }) {
    const inner = async () => {
      await time.sleep(5)
      await call()
    }
    const middle = async () => {
      await time.sleep(5)
      await inner()
    }
    await middle()
  },
  async 'in a method'(call, { time }) {
    class Service {
      async shutDown(): Promise<void> {
        await time.sleep(10)
        await call()
      }
    }
    await new Service().shutDown()
  },
  'in Promise.all': (call, { time }) => Promise.all([time.sleep(10), call()]),
  'in an async function within Promise.all': (call, { time }) =>
    Promise.all([
      (async () => {
        await time.sleep(10)
        await call()
      })(),
      time.sleep(5),
    ]),
  'in an async function within Promise.allSettled': (call, { time }) =>
    Promise.allSettled([
      (async () => {
        await time.sleep(10)
        await call()
      })(),
    ]),
  'in Promise.race': (call, { time }) => Promise.race([time.sleep(1_000_000), call()]),
  async 'in a then callback'(call, { time }) {
    await time.sleep(10).then(() => call())
  },
  async 'in a catch handler'(call) {
    try {
      await Promise.reject(new Error('no luck'))
    } catch {
      await call()
    }
  },
  async 'in a finally block'(call, { time }) {
    try {
      await time.sleep(10)
    } finally {
      await call()
    }
  },
  async 'in an async generator'(call, { time }) {
    async function* steps() {
      yield 1
      await time.sleep(10)
      yield await call()
    }
    for await (const _ of steps()) await time.sleep(1)
  },
  async 'in a synchronous event listener'(call) {
    const emitter = new EventEmitter()
    let result: Promise<unknown> = Promise.resolve()
    emitter.on('end', () => {
      result = call()
    })
    emitter.emit('end')
    await result
  },
}

/** Everything that can be run, with the calls that would wait for it. `run` gets the calls by name. */
interface Subject {
  start(simba: Simba, run: (calls: { readonly [name: string]: Call }) => Promise<unknown>): void
  readonly calls: readonly string[]
}

function callsOf(
  simba: Simba,
  more: { readonly [name: string]: Call } = {},
): { readonly [name: string]: Call } {
  const election = simba.election('report')
  return {
    'election.stop': () => election.stop(),
    'election.stepDown': () => election.stepDown(),
    'simba.close': () => simba.close(),
    'simba.close, by force': () => simba.close({ force: true }),
    ...more,
  }
}

const ELECTION_CALLS = ['election.stop', 'election.stepDown', 'simba.close', 'simba.close, by force']

const SUBJECTS: { readonly [subject: string]: Subject } = {
  'a task': {
    calls: ['task.stop', 'dispose', ...ELECTION_CALLS],
    start(simba, run) {
      const task = simba.election('report').runWhileLeader(() =>
        run(
          callsOf(simba, {
            'task.stop': () => task.stop(),
            dispose: async () => await task[Symbol.asyncDispose](),
          }),
        ),
      )
    },
  },
  'a scheduled run': {
    calls: ['task.stop', ...ELECTION_CALLS],
    start(simba, run) {
      const task = simba
        .election('report')
        .schedule(Schedule.fixedDelay('1h'), () => run(callsOf(simba, { 'task.stop': () => task.stop() })))
    },
  },
  onElected: {
    calls: ELECTION_CALLS,
    start: (simba, run) => simba.election('report').start({ onElected: () => run(callsOf(simba)) }),
  },
  onRevoked: {
    calls: ELECTION_CALLS,
    start(simba, run) {
      simba.election('report').start({
        onElected: () => void simba.election('report').stepDown('1h'),
        onRevoked: () => run(callsOf(simba)),
      })
    },
  },
  'the body of an iteration': {
    calls: ELECTION_CALLS,
    start(simba, run) {
      const loop = async () => {
        for await (const _ of simba.election('report').terms()) await run(callsOf(simba))
      }
      void loop()
    },
  },
  'a partition': {
    calls: ['groupTask.stop', 'simba.close', 'simba.close, by force'],
    start(simba, run) {
      const task = simba
        .group('g', { partitions: 1 })
        .runWhileLeader(() => run(callsOf(simba, { 'groupTask.stop': () => task.stop() })))
    },
  },
  'a withLock function': {
    calls: ['simba.close', 'simba.close, by force'],
    start: (simba, run) =>
      void simba
        .lock('report')
        .withLock(() => run(callsOf(simba)))
        ?.catch(() => {}),
  },
}

const cells = Object.entries(SUBJECTS).flatMap(([subject, { calls }]) =>
  Object.keys(PLACES).flatMap((place) => calls.map((call) => [subject, call, place] as const)),
)

describe('inside', () => {
  test.for(cells)('%s, %s() %s does not wait for itself', async ([subject, name, place], { world }) => {
    const simba = world.client()
    let ran: Promise<unknown> | undefined
    let called = false
    SUBJECTS[subject]?.start(simba, (calls) => {
      const call = calls[name] ?? (() => Promise.reject(new Error(`There is no ${name}.`)))
      const counted = () => {
        called = true
        return call()
      }
      ran ??= PLACES[place]?.(counted, world)
      return ran ?? Promise.reject()
    })
    await world.time.advance(20)

    expect(called).toBe(true)
    await world.soon(ran ?? Promise.reject())
    // And what was asked for happens, when the run has exited.
    await world.time.settle()
    expect(simba.election('report').term).toBeUndefined()
    expect(world.backend.contents().leases).toEqual([])
  })

  test('one partition, groupTask.stop() does not wait for the others either', async ({ world }) => {
    const simba = world.client()
    const lines: string[] = []
    const task = simba.group('g', { partitions: 4 }).runWhileLeader(async (term, partition) => {
      await world.time.sleep(100)
      if (partition === 2) {
        await task.stop()
        lines.push(`${world.time.now()} called`)
        return
      }
      await term.revoked
      await world.time.sleep(500)
    })
    void task.done.then(() => lines.push(`${world.time.now()} done`))
    await world.time.advance(1_000)

    expect(lines).toEqual(['100 called', '600 done'])
  })

  test('one task, another task’s stop() does wait', async ({ world }) => {
    const simba = world.client()
    const other = simba.election('other').runWhileLeader(async (term) => {
      await term.revoked
      await world.time.sleep(500)
    })
    let stoppedAt: number | undefined
    simba.election('report').runWhileLeader(async () => {
      await world.time.sleep(100)
      await other.stop()
      stoppedAt = world.time.now()
    })
    await world.time.advance(1_000)

    expect(stoppedAt).toBe(600)
  })

  test('two tasks that stop each other, both end by the deadline at the latest', async ({ world }) => {
    const simba = world.client()
    const tasks = ['one', 'two'].map((name, index) =>
      simba.election(name).runWhileLeader(async () => {
        await world.time.sleep(100)
        await tasks[1 - index]?.stop()
      }),
    )
    await world.time.advance(VALID)

    await world.soon(Promise.all(tasks.map(({ done }) => done)))
  })
})

describe('outside, though a run made it', () => {
  /** Work that ends 500 ms after its signal, having first installed something that calls back later. */
  function taskThat(world: World, install: (stop: Call) => void): { readonly log: string[] } {
    const log: string[] = []
    const simba = world.client()
    const stop = async () => {
      log.push('stopping')
      await task.stop()
      log.push(world.holderOf('report') === undefined ? 'stopped, released' : 'stopped, NOT released')
    }
    const task = simba.election('report').runWhileLeader(async (term: Term) => {
      await world.time.sleep(1)
      install(stop)
      await term.revoked
      await world.time.sleep(500)
      log.push('exited')
    })
    return { log }
  }

  test('a timer waits for the release', async ({ world }) => {
    const { log } = taskThat(world, (stop) => void world.time.setTimer(() => void stop(), 100))
    await world.time.advance(1_000)
    expect(log).toEqual(['stopping', 'exited', 'stopped, released'])
  })

  test('an event handler waits for the release', async ({ world }) => {
    const emitter = new EventEmitter()
    const { log } = taskThat(world, (stop) => void emitter.on('shutdown', () => void stop()))
    await world.time.advance(100)
    emitter.emit('shutdown')
    await world.time.advance(1_000)
    expect(log).toEqual(['stopping', 'exited', 'stopped, released'])
  })

  test('an abort listener of the application’s signal waits for the release', async ({ world }) => {
    const controller = new AbortController()
    const { log } = taskThat(world, (stop) => controller.signal.addEventListener('abort', () => void stop()))
    await world.time.advance(100)
    controller.abort()
    await world.time.advance(1_000)
    expect(log).toEqual(['stopping', 'exited', 'stopped, released'])
  })

  test('a server’s request handler waits for the release', async ({ world }) => {
    const server = createServer()
    let stopping: Promise<unknown> | undefined
    const { log } = taskThat(world, (stop) => {
      server.on('request', (_, response) => {
        stopping = stop()
        response.end()
      })
    })
    await world.time.advance(100)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('The server has no port.')
    const [response] = await once(get({ port: address.port, host: '127.0.0.1', agent: false }), 'response')
    response.resume()
    await once(response, 'end')
    server.close()
    expect(log).toEqual(['stopping'])
    await world.time.advance(1_000)
    await stopping
    expect(log).toEqual(['stopping', 'exited', 'stopped, released'])
  })

  test('an async function that the run started and does not await waits for the release', async ({
    world,
  }) => {
    const later = async (stop: Call) => {
      await world.time.sleep(100)
      await stop()
    }
    const { log } = taskThat(world, (stop) => void later(stop))
    await world.time.advance(1_000)
    expect(log).toEqual(['stopping', 'exited', 'stopped, released'])
  })

  test('a handler installed by an iteration’s body waits for the body', async ({ world }) => {
    const election = world.client().election('report')
    const emitter = new EventEmitter()
    const log: string[] = []
    const loop = async () => {
      for await (const term of election.terms()) {
        emitter.once('shutdown', async () => {
          await election.stop()
          log.push('stopped')
        })
        await term.revoked
        await world.time.sleep(500)
        log.push('exited')
      }
    }
    const looped = loop()
    await world.time.advance(100)
    emitter.emit('shutdown')
    await world.time.advance(1_000)
    await looped
    expect(log).toEqual(['exited', 'stopped'])
  })

  test('a callback that has returned is not inside any more', async ({ world }) => {
    const election = world.client().election('report')
    let stop: Call = () => Promise.reject()
    election.start({
      onElected() {
        stop = () => election.stop()
      },
      onRevoked: () => world.time.sleep(500),
    })
    await world.time.settle()
    const stopped = world.track(stop())
    await world.time.advance(499)
    expect(stopped.status).toBe('pending')
    await world.time.advance(1)
    expect(stopped.status).toBe('fulfilled')
  })
})
