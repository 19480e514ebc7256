/**
 * Work in a transaction, as a sequence of statements that asks for each result: it neither knows a driver nor waits. A connection that
 * is synchronous carries it out in one go, so that nothing of the application runs inside the transaction; one that is not waits for
 * each statement.
 */
import type { SqlRow, Statement, StatementResult } from '../statement.js'

export type Steps<T> = Generator<Statement, T, StatementResult>

export function* rowsOf(statement: Statement): Steps<readonly SqlRow[]> {
  const { rows } = yield statement
  return rows
}

export function* rowOf(statement: Statement): Steps<SqlRow | undefined> {
  const { rows } = yield statement
  return rows[0]
}

export function* countOf(statement: Statement): Steps<number> {
  const { count } = yield statement
  return count
}

/** Carries out steps on a synchronous connection. */
export function runSteps<T>(steps: Steps<T>, run: (statement: Statement) => StatementResult): T {
  let next = steps.next()
  while (next.done !== true) {
    let result: StatementResult
    try {
      result = run(next.value)
    } catch (error) {
      next = steps.throw(error)
      continue
    }
    next = steps.next(result)
  }
  return next.value
}
