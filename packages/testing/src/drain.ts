/**
 * Lets pending asynchronous work run until it rests, without any virtual time going by.
 *
 * One turn of the event loop, by `setImmediate`, runs *all* microtasks and `process.nextTick` callbacks, however long their chains, and
 * delivers what same-thread message ports hold; it costs about a microsecond. Nothing cheaper is dependable: a `nextTick` turn costs a
 * quarter of it, but stops short of chains that go from promise to tick and back. Work that itself waits on `setImmediate` needs more
 * turns, and Node tells how many immediates are pending, so that only such work pays for them.
 *
 * Real I/O and other threads are not waited for: nobody can tell when they are done.
 */

// Captured now, so that a test runner's fake timers do not stop it.
const realSetImmediate = setImmediate

/** Bounds the wait for code that sets one immediate after another for ever. */
const maxTurns = 64

/** Our own pending immediates, over all drains in progress: they are not work to wait for. */
let ownPending = 0

/** Calls `done` in a later turn of the event loop, when no microtask, tick or immediate is pending. */
export function drain(done: () => void): void {
  let turns = 0
  const turn = () => {
    ownPending--
    turns++
    if (turns < maxTurns && othersPending()) schedule(turn)
    else done()
  }
  schedule(turn)
}

function schedule(turn: () => void): void {
  ownPending++
  realSetImmediate(turn)
}

function othersPending(): boolean {
  let pending = -ownPending
  for (const resource of process.getActiveResourcesInfo()) {
    if (resource === 'Immediate') pending++
  }
  return pending > 0
}
