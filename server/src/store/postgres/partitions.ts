// Makes the partitions of `execution` ahead of the ids. There is none for what falls outside: it would grow, and making
// the next one would have to look through it.

import { number, rows, select } from '../schema/column.ts'
import { partition } from '../schema/tables.ts'
import type { Database } from './database.ts'
import { locks } from './locks.ts'
import type { Queries } from './rows.ts'

const firstSize = 1_000_000
/** Smaller ones would be many ahead of the ids, and what waits for a device is looked for in each of them. */
const leastSize = 500_000
const largestSize = 50_000_000
/** Every look at a device's queue goes through all partitions: from so many on, each one is twice as large as the last. */
const manyPartitions = 50
/** One call makes about so many at most, however far the ids have jumped. */
const madeAtOnce = 8
/** So many ids at least lie ahead: a call can name a million devices, and waits for none of them. */
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
  /** Ids below it have a partition. Others make them as well, so there may be more than this knows of. */
  #end = 0
  #making: Promise<void> | undefined
  /** Where the first one begins of which it is not noted since when it is in use. */
  #unused = 0
  #noting: Promise<void> | undefined

  constructor(db: Pick<Database, 'inTransaction' | 'readLastIds'>) {
    this.#db = db
  }

  /** Resolves when this id has its partition; those ahead are made meanwhile. `at`: when the id was given. */
  async reach(jobExecutionId: number, at?: number): Promise<void> {
    await this.#makeUpTo(jobExecutionId)
    // If one of these fails, the next trigger tries again.
    if (jobExecutionId + ahead >= this.#end) this.#makeUpTo(jobExecutionId + ahead).catch(() => undefined)
    if (at !== undefined && jobExecutionId >= this.#unused) this.#noteBegin(jobExecutionId, at)
  }

  /** The same for an id that was used: nobody waits. */
  follow(jobExecutionId: number, at: number): void {
    this.reach(jobExecutionId, at).catch(() => undefined)
  }

  /** Resolves when the next ids that are given have their partition. */
  async reachNext(): Promise<void> {
    const { jobExecutionId } = await this.#db.readLastIds()
    await this.#makeUpTo(jobExecutionId + ahead)
  }

  /** Those that it knows of may be gone: the database is another one. */
  clear(): void {
    this.#end = 0
    this.#unused = 0
  }

  async #makeUpTo(jobExecutionId: number): Promise<void> {
    // What is being made already may end below it.
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

  /** One at a time; what is asked for meanwhile comes after it. */
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

/** Gives the id at which the last one ends. `sizeOf`: how large each of them becomes; `from`: where the first begins. */
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
    // Not with PARTITION OF: that would keep every reader and writer of all executions waiting.
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
 * A partition is to last between a day and a week: so that few are looked through, and old ones go soon. How long the
 * last one lasted of which that is known says how large the next one becomes.
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
