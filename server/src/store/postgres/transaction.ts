// A transaction. Statements that do not depend on each other's results may be sent concurrently: they take effect in the order of
// sending, and none takes effect after one that failed.

import type { EventTypeOf } from '@jobcast/contract/words'
import type pg from 'pg'
import type { NewAuditEntry } from '../../domain/audit/ports/entries.ts'
import { CommitUnknown, StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import type { ExecutionChange } from '../../domain/execution/execution-move.ts'
import type { RolloutEventType } from '../../domain/rollout/rollout.ts'
import { AuditLog } from '../audit-log.ts'
import { LIVE } from '../live-executions.ts'
import type { Policies } from '../policies.ts'
import {
  type DeviceChange,
  insertInto,
  type ResourceEventType,
  recordSet,
  type Sql,
  type Values,
  type Writes,
} from '../queries.ts'
import { auditEntry, event } from '../schema/tables.ts'
import { newEventFields, toEventRow } from '../tables/event-row.ts'
import { COUNT_UP, COUNTED, type CommitMarkers, type Marker } from './commit-markers.ts'
import { prepared } from './connect.ts'
import { sendCopy } from './copy-in.ts'
import { failureOf } from './failures.ts'
import { locks } from './locks.ts'
import { sendMoves } from './moves.ts'
import { buildNamedQueries, checkRows } from './named-queries.ts'
import type { Queries, Row } from './rows.ts'

const LOCK_EVENTS = `
  SELECT pg_advisory_xact_lock(${locks.eventsOfOwner}, owner_no) FROM unnest(CAST(:owners AS int[])) AS owner_no` as const
// Whether this transaction has finished a run is only known here, after all its other statements.
const INSERT_FINISHED = `
  INSERT INTO event (owner_no, at, type, run_id)
  SELECT owner_no, record.at, 'run.finished', run_id
  FROM ${recordSet('runs', event.pick('runId', 'at'))} JOIN run ON run_id = record."runId" WHERE ended` as const
const INSERT_EVENTS = insertInto(newEventFields)
const { auditId: _, ...newEntryFields } = auditEntry.fields
const INSERT_ENTRIES = insertInto(newEntryFields)

/** The first ids of a group of new runs. */
export type FirstIds = { runId: number; jobExecutionId: number }

/** Missing fields are NULL. */
type NewEvent =
  | ExecutionChange
  | { type: 'run.created'; ownerNo: number; at: number; runId: number }
  | { type: EventTypeOf<'device'>; ownerNo: number; at: number; deviceNo: number; details: string | null }
  | { type: RolloutEventType; ownerNo: number; at: number; runId: number; details: string }
  | { type: ResourceEventType; ownerNo: number; at: number; details: string }

/** Determines whether a writing transaction was committed; read-only transactions have none. */
export type CommitCheck = { readonly markers: CommitMarkers; readonly marker: Marker }

export class Transaction implements Queries {
  readonly #client: pg.ClientBase
  readonly #check: CommitCheck | undefined
  readonly #begun: Promise<unknown>
  #isOver = false
  #isCommitSent = false
  /** The connection must not be used again, even if the transaction was committed. */
  isConnectionLost = false
  /** The error of the first failed statement; later ones only report that the transaction is aborted. */
  #failure: unknown
  /** Written last, just before the commit. */
  readonly events: NewEvent[] = []
  /** Audit entries, written with the events. */
  readonly entries: NewAuditEntry[] = []
  readonly audit = new AuditLog((entry) => this.entries.push(entry))
  hasEvents = false
  /** Runs in which executions ended; those without unfinished executions are finished. */
  readonly touchedRuns: { runId: number; at: number }[] = []
  /** For the steps that both stores share. */
  readonly named: Writes

  constructor(client: pg.ClientBase, begin: string, policies: Policies, check?: CommitCheck) {
    this.#client = client
    this.#check = check
    const queries = buildNamedQueries((sql, values, isOnce) => this.#ask(sql, values, isOnce))
    this.named = {
      ...queries,
      readPolicies: (versions) => policies.read(queries, versions),
      send: (sql: Sql, values: Values = {}) => this.#sendRun(sql, values),
      sendRows: (sql: Exclude<Sql, string>, rows: readonly Values[]) => {
        checkRows(sql, rows)
        if (rows.length > 0) this.#sendRun(sql, { rows })
      },
      loadExecutions: (sql: Sql, values: Values = {}) => queries.all(LIVE, sql, values),
      writeMoves: (writes) => sendMoves(this, writes),
      deviceChanged: (type, change) => this.#deviceChanged(type, change),
      zonesChanged: () => undefined,
      resourceChanged: (type, change) => {
        const { ownerNo, at, data } = change
        this.events.push({ type, ownerNo, at, details: JSON.stringify(data) })
        this.audit.resourceChanged(type, change)
      },
      runChanged: (type, change) => {
        const { ownerNo, runId, at, details } = change
        this.events.push({ type, ownerNo, runId, at, details: JSON.stringify(details) })
        this.audit.runChanged(type, change)
      },
      entry: (entry) => this.entries.push(entry),
      audited: (change) => this.audit.audited(change),
    }
    sendTogether(client)
    // Later statements do not wait for BEGIN. If only BEGIN fails, they would run outside of a transaction. So connections
    // for writing are read-only outside of transactions (database.ts), and nothing is committed.
    this.#begun = client.query(begin).catch((error: unknown) => {
      this.#failure = new StorageUnavailable(error)
      throw this.#failure
    })
    this.#begun.catch(() => undefined)
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#ask(sql, values)).rows
  }

  #sendRun(sql: Sql, values: Values): void {
    // If this fails, the commit fails.
    this.named.run(sql, values).catch(() => undefined)
  }

  /** Sends rows in binary COPY format. No other statement may be sent before this resolves. If it fails, the commit fails. */
  async sendCopy(sql: string, pieces: Iterable<Buffer>): Promise<void> {
    if (this.#isOver) throw new Error('the transaction is over')
    const { sent, done } = sendCopy(this.#client, sql, pieces)
    done.catch((error: unknown) => {
      this.#failure ??= failureOf(error)
    })
    await sent
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
      // If this fails as well, the connection is lost, and the transaction is rolled back.
      if (!this.#isCommitSent) await this.#client.query('ROLLBACK').catch(() => undefined)
      throw this.#failure ?? error
    }
  }

  /**
   * Readers of events continue after the last id that they have seen, so a lower id must not appear later. Ids are assigned
   * while a lock of their owner is held, which is released by the commit. Everything is sent at once, so that the lock is not
   * held during a round trip.
   */
  async #commit(): Promise<void> {
    sendTogether(this.#client)
    if (this.events.length + this.entries.length > 0) {
      this.hasEvents = true
      const owners = new Set([...this.events, ...this.entries].map(({ ownerNo }) => ownerNo))
      this.named.send(LOCK_EVENTS, { owners: [...owners].sort((a, b) => a - b) })
      this.named.sendRows(INSERT_EVENTS, this.events.map(toEventRow))
      this.named.sendRows(INSERT_ENTRIES, this.entries)
    }
    if (this.touchedRuns.length > 0) this.named.send(INSERT_FINISHED, { runs: this.touchedRuns })
    const counted =
      this.#check === undefined ? undefined : this.named.one(COUNTED, COUNT_UP, this.#check.marker)
    counted?.catch(() => undefined)
    this.#isCommitSent = true
    // Only its result matters: after a failed statement it is a rollback.
    const result = await this.#send('COMMIT').catch((error: unknown) => this.#findOutcome(error))
    if (result === 'committed') return
    // COMMIT without a transaction also succeeds, so BEGIN is checked.
    await this.#begun
    if (result.command !== 'COMMIT') throw new Error(`the transaction ended with ${result.command}`)
    if ((await counted)?.isWritten) this.#check?.markers.countUp(this.#check.marker)
  }

  /** The connection was lost before the response to COMMIT. The work is not repeated, because it may have taken effect. */
  async #findOutcome(error: unknown): Promise<'committed'> {
    if (this.#check === undefined || !(error instanceof StorageUnavailable)) throw error
    this.isConnectionLost = true
    const outcome = await this.#check.markers.findOutcome(this.#check.marker)
    if (outcome.kind === 'committed') return outcome.kind
    if (outcome.kind === 'unknown') this.#failure = new CommitUnknown(error)
    throw this.#failure
  }

  #deviceChanged(type: EventTypeOf<'device'>, change: DeviceChange): void {
    const { ownerNo, deviceNo, at, details } = change
    const text = details === undefined ? null : JSON.stringify(details)
    this.events.push({ type, ownerNo, deviceNo, at, details: text })
    this.audit.deviceChanged(type, change)
  }

  async #ask(sql: string, values: readonly unknown[], isOnce = false): Promise<pg.QueryResult<Row>> {
    // The connection may already be used by another transaction.
    if (this.#isOver) throw new Error('the transaction is over')
    return this.#send(isOnce ? { text: sql, values: values as unknown[] } : prepared(sql, values))
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

/** Buffers everything that is sent in this turn of the event loop: each separate write is a system call, and wakes the server. */
function sendTogether(client: pg.ClientBase): void {
  const { stream } = (client as pg.Client).connection
  stream.cork()
  process.nextTick(() => stream.uncork())
}
