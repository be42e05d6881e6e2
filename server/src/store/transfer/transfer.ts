// The interfaces of the source and the target of a transfer.

import { number, rows, steady, text } from '../schema/column.ts'
import type { TransferTable } from './tables.ts'

/** A value in the file. */
export type Value = string | number | boolean | null

/** The last assigned numbers: new ones continue above them. */
export const LAST_NUMBERS = rows({
  runId: number(),
  jobExecutionId: number(),
  eventId: number(),
  webhookNo: number(),
  /** The lowest id that is not purged. */
  oldestExecutionId: number(),
  /** The steady clock, which timers refer to, and the wall clock at that instant. */
  clock: steady(),
  clockAt: number(),
})
export type LastNumbers = ReturnType<typeof LAST_NUMBERS.read>

/** All reads see one state of the database. */
export type TransferSource = {
  lastNumbers: LastNumbers
  /** Batches of rows as JSON arrays, with values in the order of the table's columns. */
  readLines(table: TransferTable): AsyncIterable<string[]>
  /** The number of rows; it may include purged ones. */
  countRows(table: TransferTable): Promise<number>
  close(): Promise<void>
}

/** An empty database, which remains empty until `commit` resolves. */
export type TransferTarget = {
  begin(last: LastNumbers): Promise<void>
  /** Returns the number of rows in the table afterwards. */
  write(table: TransferTable, columns: readonly string[], rows: AsyncIterable<Value[][]>): Promise<number>
  commit(): Promise<void>
  /** May be called at any time; rolls back uncommitted changes. */
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

/** The error for rows that the database rejects. */
export function misfit(table: string, cause: unknown): TransferRefused {
  return new TransferRefused(
    `The file is damaged: a row of ${table} is invalid (${(cause as Error).message}). Export it again.`,
  )
}

/** The progress of a transfer in rows, or in bytes of the file. `what`: the table. */
export type OnTransferProgress = (done: number, of: number, what?: string) => void

/** The number of rows of each table. */
export type Counts = Record<string, number>

/** The file or the database is not suitable; the message is a complete sentence. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused'
}
