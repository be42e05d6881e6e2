// One transaction. Statements that do not need each other's answers may be sent at once: they take effect in the order
// in which they are sent, and after one that fails no other does.

import type pg from 'pg'
import type { Writes } from '../queries.ts'
import { prepared } from './connect.ts'
import { accessChanged, deviceChanged } from './events.ts'
import { failureOf } from './failures.ts'
import { locks } from './locks.ts'
import { buildNamedQueries } from './named-queries.ts'
import type { Queries, Row } from './rows.ts'

const LOCK_EVENTS = `SELECT pg_advisory_xact_lock(${locks.eventsOfOwner}, owner_no) FROM unnest($1::int[]) AS owner_no`
// Who has brought a run to its end in this transaction knows it only here, behind all that it has sent.
const INSERT_FINISHED = `
  INSERT INTO event (owner_no, at, type, run_id)
  SELECT owner_no, touched.at, 'run.finished', run_id
  FROM json_to_recordset($1::json) AS touched (run_id bigint, at bigint) JOIN run USING (run_id) WHERE ended`
const INSERT_EVENTS = `
  INSERT INTO event (owner_no, at, type, run_id, execution_id, device_no, from_state, cause, actor, attempt,
    version_number, details)
  SELECT * FROM json_to_recordset($1::json) AS new (owner_no int, at bigint, type text, run_id bigint,
    execution_id bigint, device_no int, from_state exec_state, cause text, actor text, attempt int,
    version_number int, details text)`

/** As a row of the table; what is left out is NULL. */
export type NewEvent = {
  owner_no: number
  at: number
  type: string
  run_id?: number
  execution_id?: number
  device_no?: number
  from_state?: string
  cause?: string
  actor?: string
  attempt?: number
  version_number?: number
  details?: string | null
}

export class Transaction implements Queries {
  readonly #client: pg.ClientBase
  #isOver = false
  /** Of the first statement that failed: those behind it only say that one did. */
  #failure: unknown
  /** Sent without waiting for the answer. */
  readonly #sent: Promise<unknown>[] = []
  /** Written as the last thing before the commit. */
  readonly events: NewEvent[] = []
  /** Runs in which something came to its end: those in which nothing is left have finished by it. */
  readonly touchedRuns: { run_id: number; at: number }[] = []
  /** For the steps over plain tables. */
  readonly named: Writes

  constructor(client: pg.ClientBase, begin: string) {
    this.#client = client
    this.named = {
      ...buildNamedQueries((sql, values) => this.#ask(sql, values)),
      deviceChanged: (type, change) => deviceChanged(this, type, change),
      accessChanged: (type, change) => accessChanged(this, type, change),
    }
    // Whatever fails it fails the statement behind it as well, and that one is waited for.
    this.#send(begin).catch(() => undefined)
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, values)).rows
  }

  /** For what needs no answer: if it fails, the commit does. */
  send(sql: string, values: readonly unknown[] = []): void {
    const sent = this.query(sql, values)
    sent.catch(() => undefined)
    this.#sent.push(sent)
  }

  /** Runs the work and commits. */
  async carryOut<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work()
      await this.#commit()
      this.#isOver = true
      return value
    } catch (error) {
      this.#isOver = true
      // If this fails as well, the connection is gone, and the transaction with it.
      await this.#client.query('ROLLBACK').catch(() => undefined)
      throw this.#failure ?? error
    }
  }

  /**
   * Whoever reads events goes on behind the last id it has seen, so a lower one must not appear later. The ids are
   * given while a lock of their owner is held, and locks are held until the commit is done. All of it is sent at
   * once: nobody waits for us between lock and commit.
   *
   * A connection that is lost meanwhile leaves open whether the commit has happened. It is not tried again: that
   * could do everything twice. Whoever asked is told that the storage is not available.
   */
  async #commit(): Promise<void> {
    if (this.events.length > 0) {
      const owners = new Set(this.events.map((event) => event.owner_no))
      this.send(LOCK_EVENTS, [[...owners].sort((a, b) => a - b)])
      this.send(INSERT_EVENTS, [JSON.stringify(this.events)])
    }
    if (this.touchedRuns.length > 0) this.send(INSERT_FINISHED, [JSON.stringify(this.touchedRuns)])
    const committed = this.#send('COMMIT')
    const [result] = await Promise.all([committed, ...this.#sent])
    if (result.command !== 'COMMIT') throw new Error(`the transaction ended with ${result.command}`)
  }

  async #ask(sql: string, values: readonly unknown[]): Promise<pg.QueryResult<Row>> {
    // Its connection is somebody else's by now.
    if (this.#isOver) throw new Error('the transaction is over')
    return this.#send(prepared(sql, values))
  }

  async #send(statement: string | pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#client.query<Row>(statement as pg.QueryConfig)
    } catch (error) {
      const failure = failureOf(error)
      this.#failure ??= failure
      throw failure
    }
  }
}
