// Makes the partitions of `execution` ahead of the ids. There is none for what falls outside: it would grow, and making
// the next one would have to look through it.

import type { Database } from './database.ts'
import { locks } from './locks.ts'
import type { Queries } from './rows.ts'

const size = 10_000_000
/** So many ids at least lie ahead; the next partition is made long before it is needed. */
const ahead = 5_000_000

const LOCK = `SELECT pg_advisory_xact_lock(${locks.partitions}, 0)`
const END = `
  SELECT coalesce(max((regexp_match(pg_get_expr(relpartbound, oid), 'TO \\(''(\\d+)''\\)'))[1]::bigint), 0) AS end
  FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = 'execution'::regclass`

export class Partitions {
  readonly #db: Pick<Database, 'inTransaction'>
  /** Ids below it have a partition. Others make them as well, so there may be more than this knows of. */
  #end = 0
  #making: Promise<void> | undefined

  constructor(db: Pick<Database, 'inTransaction'>) {
    this.#db = db
  }

  /** Resolves when this id has its partition; those ahead are made meanwhile. */
  async reach(jobExecutionId: number): Promise<void> {
    while (jobExecutionId >= this.#end) await this.#make(jobExecutionId)
    // If it fails, the next trigger tries again.
    if (jobExecutionId + ahead >= this.#end) void this.#make(jobExecutionId + ahead).catch(() => undefined)
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
}

/** Gives the id at which the last one ends. */
async function makePartitions(transaction: Queries, upTo: number): Promise<number> {
  await transaction.query(LOCK)
  const [row] = await transaction.query(END)
  let end = row?.end as number
  while (end <= upTo) {
    const name = `execution_from_${end}`
    // Not with PARTITION OF: that would keep every reader and writer of all executions waiting.
    await transaction.query(`CREATE TABLE ${name} (LIKE execution INCLUDING ALL)`)
    await transaction.query(
      `ALTER TABLE execution ATTACH PARTITION ${name} FOR VALUES FROM (${end}) TO (${end + size})`,
    )
    end += size
  }
  return end
}
