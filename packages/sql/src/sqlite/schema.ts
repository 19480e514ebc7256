/** Whether the file has the tables. */
import { checkShape, checkTables, foundTables } from '../shape.js'
import { ddl, describeColumns, tables } from './statements.js'
import { rowsOf, type Steps } from './steps.js'

/** @throws ConnectionTrouble if a table is missing or of another shape; it shows the DDL. */
export function* checkSchema(where: string): Steps<void> {
  checkTables(foundTables(yield* rowsOf(describeColumns())), tables, where, ddl)
}

/** @throws ConnectionTrouble if a table that is there has another shape. */
export function* checkBeforeCreating(where: string): Steps<void> {
  checkShape(foundTables(yield* rowsOf(describeColumns())), tables, where, ddl)
}
