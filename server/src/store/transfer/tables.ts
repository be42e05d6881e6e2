// The tables of an export: those of the table descriptions, except those that are not exported.

import type { ColumnKind, Table } from '../schema/column.ts'
import { run, tables } from '../schema/tables.ts'

export type { ColumnKind } from '../schema/column.ts'

/** In the file, bytes are hexadecimal, and a flag is true or false. */
export type TransferTable = {
  name: string
  columns: Readonly<Record<string, ColumnKind>>
  /** Rows are read in this order, so that they are inserted in the order of the primary key. */
  key: readonly string[]
  /** Rows belong to an execution; those of purged runs are not exported. */
  isOfExecution: boolean
}

/** Tables that are not exported, with the reason. */
export const leftBehind: Readonly<Record<string, string>> = {
  last_id: 'it is the first line of the file',
  purged_range: 'what is purged is not exported',
  execution_partition: 'partitions are created again',
  schema_migration: 'the schema is made by the program',
  write_probe: 'it holds nothing',
  catalogue_version: 'it is for nodes that run, by which they know that what they remember is old',
  commit_marker: 'it counts the commits of nodes that run',
  run_draft: 'what is not made yet is not moved',
  run_plan: 'it is of minutes: plan again',
  session: 'whoever was signed in signs in again',
  node: 'those that live say so',
  steady_clock: 'it is in the first line of the file',
  failing_task: 'it is about nodes that run',
}

export const transferTables: readonly TransferTable[] = tables
  .filter(({ name }) => !Object.hasOwn(leftBehind, name))
  .map((table) => ({
    name: table.name,
    columns: columnsOf(table),
    key: table.key,
    isOfExecution: table.key.includes('execution_id'),
  }))

/** SQLite derives this flag from the counts and has no column for it. */
export function isEndedFlag(table: string, column: string): boolean {
  return table === run.name && column === 'ended'
}

/** Excludes columns that only one store has: they are derived, or not needed because new ids continue above the old ones. */
function columnsOf({ name: table, columns }: Table): Record<string, ColumnKind> {
  const moved = Object.entries(columns).filter(([name, { only }]) => !only || isEndedFlag(table, name))
  return Object.fromEntries(moved.map(([name, { kind }]) => [name, kind]))
}
