// Locks and loads executions, in the order of their ids, and writes what moves made of them (see ../apply-moves.ts).

import type { Policy } from '../../domain/execution.ts'
import type { LiveExecution, NewTransition } from '../../domain/execution-move.ts'
import { MoveBatch } from '../apply-moves.ts'
import { LIVE } from '../live-executions.ts'
import { executionChanged } from './events.ts'
import { LIVE_JOINS, toLive, toRow, UPDATE } from './live-executions.ts'
import { insertPieces } from './outputs.ts'
import type { Policies } from './policies.ts'
import { numbers, type Row } from './rows.ts'
import { writeRunCounts } from './run-counts.ts'
import type { Transaction } from './transaction.ts'

const BY_ID = `
  SELECT ${LIVE} FROM unnest($1::bigint[]) AS wanted (id)
    JOIN execution ON execution_id = wanted.id ${LIVE_JOINS}
  ORDER BY execution_id FOR UPDATE OF execution`
const OF_DEVICE = `
  SELECT ${LIVE} FROM execution ${LIVE_JOINS}
  WHERE execution.device_no = $1 AND state <= 'CANCELING'
  ORDER BY execution_id FOR UPDATE OF execution`
const INSERT_TRANSITIONS = `
  INSERT INTO transition (execution_id, version_number, at, from_state, to_state, event, actor, attempt)
  SELECT * FROM json_to_recordset($1::json) AS new (execution_id bigint, version_number int, at bigint,
    from_state exec_state, to_state exec_state, event text, actor text, attempt int)`

export class Moves {
  readonly #transaction: Transaction
  readonly #policies: Policies
  readonly #policyOf = new Map<number, Policy>()
  readonly batch = new MoveBatch((jobVersion) => this.#policyOf.get(jobVersion) as Policy)

  constructor(transaction: Transaction, policies: Policies) {
    this.#transaction = transaction
    this.#policies = policies
  }

  async lockById(jobExecutionIds: Iterable<number>): Promise<LiveExecution[]> {
    const ids = [...new Set(jobExecutionIds)].sort((a, b) => a - b)
    return ids.length === 0 ? [] : this.lock(BY_ID, [numbers(ids)])
  }

  /** What has not ended on a device. */
  lockOfDevice(deviceNo: number): Promise<LiveExecution[]> {
    return this.lock(OF_DEVICE, [deviceNo])
  }

  /** Those that a statement finds and locks, as LIVE. */
  async lock(sql: string, values: readonly unknown[]): Promise<LiveExecution[]> {
    const found = (await this.#transaction.query(sql, values)).map(toLive)
    const versions = new Set(found.map(({ jobVersion }) => jobVersion))
    const policyOf = await this.#policies.read(this.#transaction, versions)
    for (const version of versions) this.#policyOf.set(version, policyOf(version))
    return this.batch.load(found)
  }

  /** Sends all of it; the commit waits for it. */
  write(): void {
    const { executions, withOutput, pieces, transitions, changes, runs } = this.batch.writes
    this.#sendRows(UPDATE, [...executions, ...withOutput].map(toRow))
    insertPieces(this.#transaction, pieces)
    this.#sendRows(INSERT_TRANSITIONS, transitions.map(toTransitionRow))
    for (const change of changes) executionChanged(this.#transaction, change)
    writeRunCounts(this.#transaction, runs)
  }

  #sendRows(sql: string, rows: Row[]): void {
    if (rows.length > 0) this.#transaction.send(sql, [JSON.stringify(rows)])
  }
}

/** Whatever the work moves is written at its end. */
export async function inBatch<T>(
  transaction: Transaction,
  policies: Policies,
  work: (moves: Moves) => Promise<T>,
): Promise<T> {
  const moves = new Moves(transaction, policies)
  const value = await work(moves)
  moves.write()
  return value
}

function toTransitionRow(transition: NewTransition): Row {
  const { at, event, actor, attempt } = transition
  return {
    execution_id: transition.jobExecutionId,
    version_number: transition.versionNumber,
    at,
    from_state: transition.from,
    to_state: transition.to,
    event,
    actor,
    attempt,
  }
}
