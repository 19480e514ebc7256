import type { Hint } from '@simba/core'
import type { Steps } from './steps.js'

/** Notes what other nodes may want to hear of; it becomes known once the transaction has been committed, and not otherwise. */
export type Announce = (news: Hint) => void

/** Work for one transaction. It is begun anew for each attempt, so it must keep nothing of an attempt outside. */
export type Work<T> = (announce: Announce) => Steps<T>

/** `write` locks what it will change before it reads; `read` sees one state of the database throughout. */
export type Access = 'read' | 'write'
