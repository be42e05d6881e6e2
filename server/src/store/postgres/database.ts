// The database interface for the files with statements: reads, and transactions.

import pg from 'pg'
import { CommitUnknown, LocksBusy, StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import type { WriteOptions } from '../../domain/trigger/ports/write-options.ts'
import { DatabaseWatch } from '../../state/database-watch.ts'
import { Policies } from '../policies.ts'
import type { Queries as NamedQueries } from '../queries.ts'
import { rows } from '../schema/column.ts'
import { lastId } from '../schema/tables.ts'
import { CommitMarkers } from './commit-markers.ts'
import { connectionOptions, nodeName } from './connect.ts'
import { isAnswer, isInTheWay, isLockTimeout } from './failures.ts'
import { type Launched, type LoneStatement, launchAlone } from './launch-alone.ts'
import { buildNamedQueries } from './named-queries.ts'
import { ask, type OnClient, withClient } from './pool-client.ts'
import { onClient, type Queries, type Row } from './rows.ts'
import { type CommitCheck, type FirstIds, Transaction } from './transaction.ts'

// Separate connections, so that readers cannot exhaust the connections of writers, nor other steps those of group commits: two
// each for triggers, reports and device puts.
const readers = 6
const writers = 6
const grouped = 6
// For groups of triggers that are a single statement.
const launching = 2
// For groups that wait for locks (store/group-commit.ts), and for changes of jobs and devices, which may wait.
const waiting = 6
// For selectors, which may read all devices, so that other readers do not wait for them.
const selecting = 2
/**
 * The number of devices that a selector matches is unknown, so the planner decides by the values. It may use hash joins, but
 * not sequential scans in nested loops, which it would prefer without statistics: 12,000 devices took longer than a minute.
 */
const freePlanning = { plan_cache_mode: 'force_custom_plan', enable_hashjoin: 'on' }
/** How long a write with `waitsForLocks: false` waits for locks. */
export const lockWaitMs = 200
const idleMs = 60_000
const attempts = 5

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'
// On a connection for transactions, nothing can be written outside of a transaction: if only BEGIN fails, the statements after
// it must not take effect. A database that an operator has made read-only remains read-only.
const IS_READ_ONLY = "SELECT current_setting('default_transaction_read_only') = 'on' AS is_read_only"
const READ_ONLY_OUTSIDE = 'SET default_transaction_read_only = on'
const TAKE_IDS = 'SELECT run_id AS "runId", execution_id AS "jobExecutionId" FROM take_ids($1, $2)'
const LAST_IDS = 'SELECT run_id AS "runId", execution_id AS "jobExecutionId" FROM last_id'
const IDS = rows(lastId.fields)

export class Database implements Queries {
  readonly #readers: pg.Pool
  readonly #writers: pg.Pool
  readonly #grouped: pg.Pool
  readonly #waiting: pg.Pool
  readonly #launching: pg.Pool
  readonly #launchingInTurn: pg.Pool
  readonly #notes: pg.Pool
  readonly #selections: pg.Pool
  readonly #url: string
  readonly #markers: CommitMarkers
  /** The statement that begins a transaction on a connection. */
  readonly #begin = new WeakMap<pg.ClientBase, string>()
  readonly #connections = new Set<pg.Client>()
  readonly policies = new Policies()
  /** Detects that the database does not respond. */
  readonly watch = new DatabaseWatch(() => performance.now())
  /** Called after a commit with events. */
  onEvents: () => void = () => undefined
  /** For the steps over plain tables; each statement runs separately. */
  readonly named: NamedQueries = buildNamedQueries((sql, values) =>
    this.#withClient(this.#readers, (client) => ask(client, sql, values)),
  )

  constructor(url: string, settings: Record<string, string>, nodeNo: number) {
    this.#url = url
    const open = (
      max: number,
      more: Record<string, string> = {},
      onConnect: (client: pg.ClientBase) => unknown = () => undefined,
    ) => {
      const options = connectionOptions(url, { ...settings, ...more }, nodeName(nodeNo))
      const pool = new pg.Pool({
        ...options,
        max,
        idleTimeoutMillis: idleMs,
        onConnect: (client) => {
          this.#connections.add(client as pg.Client)
          client.once('end', () => this.#connections.delete(client as pg.Client))
          return onConnect(client)
        },
      })
      // A broken idle connection is discarded, and a new one is created when needed.
      pool.on('error', () => undefined)
      // Between two users, a connection briefly has no error listener: an error at that time must not end the process.
      pool.on('connect', (client) => client.on('error', () => undefined))
      return pool
    }
    this.#readers = open(readers)
    this.#selections = open(selecting, freePlanning)
    this.#writers = open(writers, {}, (client) => this.#prepareToWrite(client))
    this.#waiting = open(waiting, {}, (client) => this.#prepareToWrite(client))
    this.#grouped = open(grouped, { lock_timeout: `${lockWaitMs}` }, (client) => this.#prepareToWrite(client))
    this.#launching = open(launching, { lock_timeout: `${lockWaitMs}` })
    this.#launchingInTurn = open(launching)
    this.#markers = new CommitMarkers(url, nodeNo, this.watch)
    // Heartbeats do not need to be on disk.
    this.#notes = open(1, { synchronous_commit: 'off' })
  }

  /** A statement outside of a transaction. */
  query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#withClient(this.#readers, async (client) => (await ask(client, sql, values)).rows)
  }

  /** The same for writes that do not need to be on disk and must not wait for readers. */
  note(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#withClient(this.#notes, async (client) => (await ask(client, sql, values)).rows)
  }

  /** All reads of the work see one state of the database. */
  inSnapshot<T>(work: (reads: Transaction) => Promise<T>): Promise<T> {
    return this.#withClient(this.#readers, async (client) => {
      const transaction = new Transaction(client, SNAPSHOT, this.policies)
      return transaction.carryOut(() => work(transaction))
    })
  }

  /** The same for selectors, which may read all devices. */
  inSelection<T>(work: (reads: Transaction) => Promise<T>): Promise<T> {
    return this.#withClient(this.#selections, async (client) => {
      const transaction = new Transaction(client, SNAPSHOT, this.policies)
      return transaction.carryOut(() => work(transaction))
    })
  }

  /** The work may be repeated from its beginning. Atomic, except after CommitUnknown. */
  inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#write(this.#writers, (client, discard) => this.#writeOn(client, work, discard))
  }

  /** The same for writes of which only a few run at once. */
  inGroupTransaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    { waitsForLocks }: WriteOptions = { waitsForLocks: true },
  ): Promise<T> {
    const write: OnClient<T> = (client, discard) => this.#writeOn(client, work, discard)
    return waitsForLocks ? this.#write(this.#waiting, write) : this.#writeUnlessBusy(this.#grouped, write)
  }

  /** A statement that is a transaction by itself. */
  launch(
    statement: LoneStatement,
    { waitsForLocks }: WriteOptions = { waitsForLocks: true },
  ): Promise<Launched> {
    const write: OnClient<Launched> = (client, discard) => this.#launchOn(client, statement, discard)
    return waitsForLocks
      ? this.#write(this.#launchingInTurn, write)
      : this.#writeUnlessBusy(this.#launching, write)
  }

  async #writeUnlessBusy<T>(pool: pg.Pool, write: OnClient<T>): Promise<T> {
    try {
      return await this.#write(pool, write)
    } catch (error) {
      throw isLockTimeout(error) ? new LocksBusy() : error
    }
  }

  async #write<T>(pool: pg.Pool, write: OnClient<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#withClient(pool, write)
      } catch (error) {
        if (!isInTheWay(error)) throw error
        if (attempt === attempts) throw new StorageUnavailable(error)
      }
    }
  }

  async #withClient<T>(pool: pg.Pool, work: OnClient<T>): Promise<T> {
    try {
      const value = await withClient(pool, work)
      this.watch.answered()
      return value
    } catch (error) {
      if (isAnswer(error)) this.watch.answered()
      throw error
    }
  }

  /** Called before the first use of a connection. */
  async #prepareToWrite(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query(IS_READ_ONLY)
    await client.query(READ_ONLY_OUTSIDE)
    this.#begin.set(client, rows[0].is_read_only ? 'BEGIN' : 'BEGIN READ WRITE')
  }

  #writeOn<T>(
    client: pg.PoolClient,
    work: (transaction: Transaction) => Promise<T>,
    discard: () => void,
  ): Promise<T> {
    return this.#withMarker(async (check) => {
      const begin = this.#begin.get(client) ?? 'BEGIN'
      const transaction = new Transaction(client, begin, this.policies, check)
      try {
        const value = await transaction.carryOut(() => work(transaction))
        if (transaction.hasEvents) this.onEvents()
        return value
      } finally {
        if (transaction.isConnectionLost) discard()
      }
    })
  }

  #launchOn(client: pg.PoolClient, statement: LoneStatement, discard: () => void): Promise<Launched> {
    return this.#withMarker(async (check) => {
      const launched = await launchAlone(client, statement, check, discard)
      if (launched.runId > 0) this.onEvents()
      return launched
    })
  }

  async #withMarker<T>(write: (check: CommitCheck) => Promise<T>): Promise<T> {
    const marker = this.#markers.take()
    let isKnown = true
    try {
      return await write({ markers: this.#markers, marker })
    } catch (error) {
      isKnown = !(error instanceof CommitUnknown)
      throw error
    } finally {
      if (isKnown) this.#markers.giveBack(marker)
    }
  }

  /**
   * On a separate connection, for statements that cannot be part of a transaction. A statement fails if it cannot get a lock in
   * time, so that others do not queue up behind it.
   */
  async onOwnConnection<T>(lockTimeoutMs: number, work: (connection: Queries) => Promise<T>): Promise<T> {
    const options = connectionOptions(this.#url, { lock_timeout: `${lockTimeoutMs}` })
    const client = new pg.Client({ ...options, pipeline: false })
    client.on('error', () => undefined)
    try {
      await client.connect().catch((error: unknown) => {
        throw new StorageUnavailable(error)
      })
      return await work(onClient(client))
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** The highest ids ever assigned. */
  async readLastIds(): Promise<FirstIds> {
    const [row] = await this.query(LAST_IDS)
    return IDS.read(row ?? {})
  }

  /** Closes all connections: pending statements reject. New connections are created when needed. */
  giveUpConnections(): void {
    // `end` would wait for pending results.
    for (const client of this.#connections) client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    const writing = [this.#writers, this.#grouped, this.#waiting, this.#launching, this.#launchingInTurn]
    const pools = [...writing, this.#readers, this.#notes, this.#selections]
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

/** Assigns consecutive ids, permanently. */
export async function takeIds(transaction: Queries, runs: number, executions: number): Promise<FirstIds> {
  const [row] = await transaction.query(TAKE_IDS, [runs, executions])
  return IDS.read(row ?? {})
}
