// Moves executions from state to state, as domain/execution.ts says, inside a transaction. Rows are locked and read in
// the order of their ids, judged in memory, and written back at once with what belongs to them: the counts of their runs,
// their history, and events.

import { afterEvent, afterRest, type ExecutionEvent, type Moment } from '../../domain/execution.ts'
import type { Moved } from '../../domain/store.ts'
import { afterMove, type Brought, movedOf } from './after-move.ts'
import { executionChanged } from './events.ts'
import { LIVE_COLUMNS, LIVE_JOINS, type LiveExecution, toLive } from './live-executions.ts'
import type { JobPolicy, Policies } from './policies.ts'
import { numbers, type Row } from './rows.ts'
import { type CountedMove, writeCounts } from './run-counts.ts'
import type { Transaction } from './transaction.ts'

const BY_ID = `
  SELECT ${LIVE_COLUMNS} FROM unnest($1::bigint[]) AS wanted (id)
    JOIN execution ON execution_id = wanted.id ${LIVE_JOINS}
  ORDER BY execution_id FOR UPDATE OF execution`
const OF_DEVICE = `
  SELECT ${LIVE_COLUMNS} FROM execution ${LIVE_JOINS}
  WHERE execution.device_no = $1 AND state <= 'CANCELING'
  ORDER BY execution_id FOR UPDATE OF execution`
// All that a move may change is read and written: a row is locked from the one to the other.
const UPDATE = `
  UPDATE execution SET state = new.state, attempt = new.attempt, version_number = new.version_number,
    started_at = new.started_at, finished_at = new.finished_at, not_before = new.not_before, due_at = new.due_at,
    updated_at = new.updated_at, notified_at = new.notified_at, delivered_at = new.delivered_at,
    status_details = new.status_details, client_token = new.client_token, cancel_version = new.cancel_version,
    output_bytes = new.output_bytes, output_cut = new.output_cut, result = coalesce(new.result, execution.result)
  FROM json_to_recordset($1::json) AS new (execution_id bigint, state exec_state, attempt int, version_number int,
    started_at bigint, finished_at bigint, not_before bigint, due_at bigint, updated_at bigint, notified_at bigint,
    delivered_at bigint, status_details text, client_token text, cancel_version int, output_bytes int,
    output_cut boolean, result text)
  WHERE execution.execution_id = new.execution_id`
const REMEMBER = `
  INSERT INTO transition (execution_id, version_number, at, from_state, to_state, event, actor, attempt)
  SELECT * FROM json_to_recordset($1::json) AS new (execution_id bigint, version_number int, at bigint,
    from_state exec_state, to_state exec_state, event text, actor text, attempt int)`

export class Moves {
  readonly #transaction: Transaction
  readonly #policies: Policies
  #policyOf = new Map<number, JobPolicy>()
  /** As they are by now, whether written or not. */
  readonly #live = new Map<number, LiveExecution>()
  readonly #changed = new Set<number>()
  readonly #results = new Map<number, string>()
  readonly #transitions: Row[] = []
  readonly #counted: CountedMove[] = []

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

  /** Those that a statement finds and locks, as LIVE_COLUMNS; one that was moved before, as it is by now. */
  async lock(sql: string, values: readonly unknown[]): Promise<LiveExecution[]> {
    const rows = await this.#transaction.query(sql, values)
    const found = rows.map((row) => this.#live.get(row.execution_id as number) ?? toLive(row))
    const versions = new Set(found.map(({ jobVersion }) => jobVersion))
    const policyOf = await this.#policies.read(this.#transaction, versions)
    for (const version of versions) this.#policyOf.set(version, policyOf(version))
    for (const execution of found) this.#live.set(execution.jobExecutionId, execution)
    return found
  }

  /** One that is locked, as it is by now. */
  find(jobExecutionId: number): LiveExecution | undefined {
    return this.#live.get(jobExecutionId)
  }

  /** What became of it; undefined when its state does not allow the event. */
  move(
    before: LiveExecution,
    event: ExecutionEvent,
    moment: Moment,
    actor: string,
    brought: Brought = {},
  ): { execution: LiveExecution; moved: Moved } | undefined {
    const life = afterEvent(before.life, event, this.#policy(before), moment, brought.stepTimeout)
    if (life === undefined) return undefined
    const execution = afterMove(before, life, moment, actor, brought)
    const isRetry = life.attempt !== before.life.attempt
    this.set(execution)
    if (brought.result !== undefined) this.#results.set(before.jobExecutionId, brought.result)
    const cause = isRetry ? 'retry' : event
    this.#note(
      before,
      execution,
      cause,
      isRetry ? before.life.attempt : life.attempt,
      moment.at,
      actor,
      brought,
    )
    return { execution, moved: movedOf(before, life.execState) }
  }

  /** It is offered again. That is no move: it has waited all the time. */
  endRest(before: LiveExecution, moment: Moment): Moved {
    this.set({ ...before, life: afterRest(before.life, this.#policy(before), moment.clock) })
    return movedOf(before, before.life.execState)
  }

  /** To be written like this. */
  set(execution: LiveExecution): void {
    this.#live.set(execution.jobExecutionId, execution)
    this.#changed.add(execution.jobExecutionId)
  }

  /** Sends all of it; the commit waits for it. */
  write(): void {
    if (this.#changed.size > 0) {
      const rows = [...this.#changed].sort((a, b) => a - b).map((id) => this.#toRow(id))
      this.#transaction.send(UPDATE, [JSON.stringify(rows)])
    }
    if (this.#transitions.length > 0) {
      this.#transaction.send(REMEMBER, [JSON.stringify(this.#transitions)])
    }
    writeCounts(this.#transaction, this.#counted)
  }

  #policy({ jobVersion }: LiveExecution): JobPolicy {
    return this.#policyOf.get(jobVersion) as JobPolicy
  }

  #note(
    before: LiveExecution,
    { versionNumber, life }: LiveExecution,
    cause: ExecutionEvent,
    attempt: number,
    at: number,
    actor: string,
    { statusDetails }: Brought,
  ): void {
    const { jobExecutionId, runId, ownerNo, deviceNo } = before
    const from = before.life.execState
    const { execState } = life
    if (from !== execState) this.#counted.push({ runId, from, to: execState, at })
    if (cause !== 'progress') {
      this.#transitions.push({
        execution_id: jobExecutionId,
        version_number: versionNumber,
        at,
        from_state: from,
        to_state: execState,
        event: cause,
        actor,
        attempt,
      })
    }
    const details = statusDetails === undefined ? null : JSON.stringify(statusDetails)
    const what = { ownerNo, runId, jobExecutionId, deviceNo, from, execState, cause, actor, attempt }
    executionChanged(this.#transaction, { ...what, versionNumber, at, details })
  }

  #toRow(jobExecutionId: number): Row {
    const { life, ...live } = this.#live.get(jobExecutionId) as LiveExecution
    return {
      execution_id: jobExecutionId,
      state: life.execState,
      attempt: life.attempt,
      version_number: live.versionNumber,
      started_at: life.startedAt,
      finished_at: life.finishedAt,
      not_before: life.notBefore,
      due_at: life.dueAt,
      updated_at: live.updatedAt,
      notified_at: live.notifiedAt,
      delivered_at: live.deliveredAt,
      status_details: live.statusDetails,
      // As JSON: a device may put in it what PostgreSQL's texts cannot hold.
      client_token: live.clientToken === null ? null : JSON.stringify(live.clientToken),
      cancel_version: live.cancelVersion,
      output_bytes: live.outputBytes,
      output_cut: live.outputCut,
      result: this.#results.get(jobExecutionId) ?? null,
    }
  }
}

/** Whatever the work moves is written at its end. */
export async function moving<T>(
  transaction: Transaction,
  policies: Policies,
  work: (moves: Moves) => Promise<T>,
): Promise<T> {
  const moves = new Moves(transaction, policies)
  const value = await work(moves)
  moves.write()
  return value
}
