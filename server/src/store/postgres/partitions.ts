// Creates the partitions of `execution` ahead of the ids. There is no default partition: it would grow, and creating the next
// partition would have to scan it.

import { number, rows, select } from '../schema/column.ts'
import { partition } from '../schema/tables.ts'
import type { Database } from './database.ts'
import { locks } from './locks.ts'
import type { Queries } from './rows.ts'

const firstSize = 1_000_000
/** Smaller partitions would be too many, and reading the queue of a device searches each of them. */
const leastSize = 500_000
const largestSize = 50_000_000
/** Reading the queue of a device searches all partitions: beyond this number, each one is twice as large as the last. */
const manyPartitions = 50
/** About the maximum number that one call creates, even if the ids have jumped. */
const madeAtOnce = 8
/** The minimum number of ids with a partition ahead: a call can have a million devices and should not wait. */
export const ahead = 1_500_000

const dayMs = 24 * 60 * 60_000

const LOCK = `SELECT pg_advisory_xact_lock(${locks.partitions}, 0)` as const
export const PARTITION = select(partition.fields)
export const PARTITIONS = `SELECT ${PARTITION} FROM execution_partition ORDER BY first_id` as const
const NOTE = 'INSERT INTO execution_partition (first_id, end_id) VALUES ($1, $2)'
const BEGIN = 'UPDATE execution_partition SET began_at = $2 WHERE first_id <= $1 AND began_at IS NULL'
const UNUSED = `
  SELECT coalesce(min(first_id) FILTER (WHERE began_at IS NULL), max(end_id)) AS "firstId" FROM execution_partition`
const FIRST = rows({ firstId: number() })

export type Partition = ReturnType<typeof PARTITION.read>

export const partitionName = (firstId: number): string => `execution_from_${firstId}`

export class Partitions {
  readonly #db: Pick<Database, 'inTransaction' | 'readLastIds'>
  /** Ids below it have a partition. Other nodes create them as well, so there may be more. */
  #end = 0
  #making: Promise<void> | undefined
  /** The start of the first partition without a recorded time of first use. */
  #unused = 0
  #noting: Promise<void> | undefined

  constructor(db: Pick<Database, 'inTransaction' | 'readLastIds'>) {
    this.#db = db
  }

  /** Resolves when this id has its partition; further ones are created in the background. `at`: when the id was assigned. */
  async reach(jobExecutionId: number, at?: number): Promise<void> {
    await this.#makeUpTo(jobExecutionId)
    // If this fails, the next trigger tries again.
    if (jobExecutionId + ahead >= this.#end) this.#makeUpTo(jobExecutionId + ahead).catch(() => undefined)
    if (at !== undefined && jobExecutionId >= this.#unused) this.#noteBegin(jobExecutionId, at)
  }

  /** The same for a used id, without waiting. */
  follow(jobExecutionId: number, at: number): void {
    this.reach(jobExecutionId, at).catch(() => undefined)
  }

  /** Resolves when the next ids have their partition. */
  async reachNext(): Promise<void> {
    const { jobExecutionId } = await this.#db.readLastIds()
    await this.#makeUpTo(jobExecutionId + ahead)
  }

  /** Known partitions may be missing, because the database was failed over or restored. */
  clear(): void {
    this.#end = 0
    this.#unused = 0
  }

  async #makeUpTo(jobExecutionId: number): Promise<void> {
    // A partition that is already being created may end below it.
    while (jobExecutionId >= this.#end) await this.#make(jobExecutionId)
  }

  #make(upTo: number): Promise<void> {
    this.#making ??= this.#db
      .inTransaction((transaction) => makePartitions(transaction, upTo))
      .then((end) => {
        this.#end = end
      })
      .finally(() => {
        this.#making = undefined
      })
    return this.#making
  }

  /** Runs one at a time; further calls wait. */
  #noteBegin(jobExecutionId: number, at: number): void {
    const noting = Promise.resolve(this.#noting)
      .then(() => this.#writeBegin(jobExecutionId, at))
      .catch(() => undefined)
      .finally(() => {
        if (this.#noting === noting) this.#noting = undefined
      })
    this.#noting = noting
  }

  async #writeBegin(jobExecutionId: number, at: number): Promise<void> {
    if (jobExecutionId < this.#unused) return
    await this.#db.inTransaction(async (transaction) => {
      await transaction.query(BEGIN, [jobExecutionId, at])
      const [row] = await transaction.query(UNUSED)
      this.#unused = FIRST.read(row ?? {}).firstId
    })
  }
}

/** Returns the end of the last partition. `sizeOf`: the size of each; `from`: the start of the first. */
export async function makePartitions(
  transaction: Queries,
  upTo: number,
  sizeOf: (before: Partition[]) => number = nextSize,
  from = 0,
): Promise<number> {
  await transaction.query(LOCK)
  const partitions = (await transaction.query(PARTITIONS)).map(PARTITION.read)
  let end = partitions.at(-1)?.endId ?? from
  while (end <= upTo) {
    const size = Math.max(sizeOf(partitions), Math.ceil((upTo - end) / madeAtOnce))
    const next: Partition = { firstId: end, endId: end + size, beganAt: null }
    const name = partitionName(next.firstId)
    // PARTITION OF is not used, because it would block all readers and writers of executions.
    await transaction.query(`CREATE TABLE ${name} (LIKE execution INCLUDING ALL)`)
    await transaction.query(
      `ALTER TABLE execution ATTACH PARTITION ${name} FOR VALUES FROM (${next.firstId}) TO (${next.endId})`,
    )
    await transaction.query(NOTE, [next.firstId, next.endId])
    partitions.push(next)
    end = next.endId
  }
  return end
}

/**
 * A partition should last between a day and a week, so that few are searched, and old ones can be dropped soon. The size of the
 * next one depends on the last known duration.
 */
export function nextSize(partitions: Partition[]): number {
  const sizeOf = ({ firstId, endId }: Partition) => endId - firstId
  const newest = partitions.at(-1)
  if (newest && partitions.length >= manyPartitions) return 2 * sizeOf(newest)
  for (let at = partitions.length - 1; at > 0; at--) {
    const begun = partitions[at]?.beganAt ?? null
    const before = partitions[at - 1]
    if (begun === null || before === undefined || before.beganAt === null) continue
    const lasted = begun - before.beganAt
    const factor = lasted < dayMs ? 2 : lasted > 7 * dayMs ? 0.5 : 1
    return Math.min(largestSize, Math.max(leastSize, Math.round(sizeOf(before) * factor)))
  }
  const last = partitions.at(-1)
  return last ? Math.max(leastSize, sizeOf(last)) : firstSize
}
