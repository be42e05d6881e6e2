// What the two ends of a move have to do.

import { number, rows, steady, text } from '../schema/column.ts'
import type { TransferTable } from './tables.ts'

/** A value as it stands in the file. */
export type Value = string | number | boolean | null

/** The last numbers that were given: new ones continue above them. */
export const LAST_NUMBERS = rows({
  runId: number(),
  jobExecutionId: number(),
  eventId: number(),
  webhookNo: number(),
  /** The lowest id that is still kept. */
  oldestExecutionId: number(),
  /** The steady clock, which timers refer to, and the wall clock at that instant. */
  clock: steady(),
  clockAt: number(),
})
export type LastNumbers = ReturnType<typeof LAST_NUMBERS.read>

/** All that is read from it is of one instant. */
export type TransferSource = {
  lastNumbers: LastNumbers
  /** Rows as JSON arrays, their values in the order of the table's columns; some at a time. */
  readLines(table: TransferTable): AsyncIterable<string[]>
  /** How many rows it has, at least: what is purged may be counted as well. */
  countRows(table: TransferTable): Promise<number>
  close(): Promise<void>
}

/** An empty database. Nothing is in it until `commit` resolves. */
export type TransferTarget = {
  begin(last: LastNumbers): Promise<void>
  /** Gives how many rows the table has then. */
  write(table: TransferTable, columns: readonly string[], rows: AsyncIterable<Value[][]>): Promise<number>
  commit(): Promise<void>
  /** May be called at any time; takes back what is not committed. */
  close(): Promise<void>
}

export const LINE = rows({ line: text() })
export const COUNT = rows({ count: number() })
export const NOT_PURGED = `
  WHERE NOT EXISTS (
    SELECT 1 FROM purged_range WHERE execution_id BETWEEN first_execution_id AND last_execution_id)`

export function notEmpty(database: string, table: string, instead: string): TransferRefused {
  return new TransferRefused(`${database} is not empty: ${table} has rows. Import into ${instead}.`)
}

/** For rows that the database does not take. */
export function misfit(table: string, cause: unknown): TransferRefused {
  return new TransferRefused(
    `The file is damaged: a row of ${table} is invalid (${(cause as Error).message}). Export it again.`,
  )
}

/** How far a move is: so many rows, or bytes of the file, of so many. `what`: the table. */
export type OnTransferProgress = (done: number, of: number, what?: string) => void

/** How many rows of each table. */
export type Counts = Record<string, number>

/** The file or the database is not what it would have to be; the message is the whole sentence. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused'
}
