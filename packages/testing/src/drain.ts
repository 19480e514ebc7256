/**
 * Lets pending asynchronous work run until it rests, again and again, without any virtual time going by.
 *
 * Before each callback of `setImmediate` Node runs *all* microtasks and `process.nextTick` callbacks, however
 * long their chains. Nothing cheaper is dependable: a turn by `nextTick` stops short of chains that go from
 * promise to tick and back. What is dear about an immediate is the turn of the event loop, so that a long run
 * asks for many at once, and shares one turn among them.
 *
 * Work that itself waits on `setImmediate` needs whole turns; Node tells how many immediates are pending, so
 * that only such work pays for them. Real I/O and other threads are not waited for: nobody can tell when they
 * are done.
 */

// Captured now, so that a test runner's fake timers do not stop it.
const realSetImmediate = setImmediate

/**
 * How many steps share one turn of the event loop at most; the first ones of each run share it with none or
 * few.
 */
const maxShared = 64

/** Bounds the wait for code that sets one immediate after another for ever. */
const maxTurns = 100

/** Our own pending immediates, over all runs in progress: they are not work to wait for. */
let ownPending = 0

/**
 * Calls `step` each time that no microtask, tick or immediate is pending any more, until it returns `false`.
 * Never calls it at once.
 */
export function wheneverAtRest(step: () => boolean): void {
  let shared = 1
  let turnsWaited = 0
  let waiting = false
  let over = false

  const attempt = () => {
    ownPending--
    if (over || waiting) return
    if (turnsWaited < maxTurns && othersPending()) {
      waiting = true
      return
    }
    turnsWaited = 0
    over = !step()
  }
  const lastAttempt = () => {
    attempt()
    if (over) return
    if (waiting) turnsWaited++
    shared = waiting ? 1 : Math.min(2 * shared, maxShared)
    waiting = false
    beginTurn()
  }
  const beginTurn = () => {
    ownPending += shared
    for (let i = 1; i < shared; i++) realSetImmediate(attempt)
    realSetImmediate(lastAttempt)
  }
  beginTurn()
}

function othersPending(): boolean {
  let pending = -ownPending
  for (const resource of process.getActiveResourcesInfo()) {
    if (resource === 'Immediate') pending++
  }
  return pending > 0
}
