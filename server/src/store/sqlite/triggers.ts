// The one hot write: a group of triggers, in one transaction, answered once it is on disk.

import type { DatabaseSync } from 'node:sqlite'
import type { LaunchedRun, Trigger } from '../../domain/store.ts'
import { EXECUTION_COLUMNS, EXECUTION_JOINS, prepareExecutions, toExecution } from './executions.ts'
import { type NewRun, prepareRuns } from './runs.ts'

const LAST_ID = 'SELECT run_id, execution_id FROM last_id'
const SET_LAST_ID = 'UPDATE last_id SET run_id = ?, execution_id = ?'
const FIND_KEY = `
  SELECT request_hash, run_id FROM idempotency_key
  WHERE owner_no = ? AND idempotency_key = ? AND created_at > ?`
// A key that is over its time is taken over by the new call.
const KEEP_KEY = `
  INSERT INTO idempotency_key (owner_no, idempotency_key, request_hash, run_id, created_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET request_hash = excluded.request_hash, run_id = excluded.run_id,
    created_at = excluded.created_at`
const FORGET_KEYS = `
  DELETE FROM idempotency_key WHERE (owner_no, idempotency_key) IN (
    SELECT owner_no, idempotency_key FROM idempotency_key WHERE created_at <= ? LIMIT 500)`
const RUN_AS_LAUNCHED = `
  SELECT ${EXECUTION_COLUMNS} FROM run CROSS JOIN execution
    ON execution_id BETWEEN first_execution_id AND first_execution_id + total - 1 ${EXECUTION_JOINS}
  WHERE run.run_id = ? ORDER BY execution.execution_id`

/** A trigger whose names were looked up and whose ids were given. */
export type CheckedTrigger = NewRun & {
  deviceNos: Int32Array
  idempotency: Trigger['idempotency']
  /** The names of its devices may be changed by a write that comes before it: answer as it is on disk. */
  readBack: boolean
}

/** Of a trigger that names what is not there: only whether its key belongs to an earlier call. */
export type KeyQuestion = { ownerNo: number; idempotency: NonNullable<Trigger['idempotency']> }

export type RecordedTrigger =
  | 'created'
  | { created: LaunchedRun }
  | { replayed: LaunchedRun }
  | 'unknown-key'
  | 'idempotency-key-reused'

export function prepareTriggers(db: DatabaseSync) {
  const { insertRun } = prepareRuns(db)
  const { insertExecutions } = prepareExecutions(db)
  const lastId = db.prepare(LAST_ID)
  const setLastId = db.prepare(SET_LAST_ID)
  const findKey = db.prepare(FIND_KEY)
  const keepKey = db.prepare(KEEP_KEY)
  const forgetKeys = db.prepare(FORGET_KEYS)
  const runAsLaunched = db.prepare(RUN_AS_LAUNCHED)

  function launchedRun(runId: number): LaunchedRun {
    const executions = runAsLaunched.all(runId).map(toExecution)
    const [first] = executions
    if (first === undefined) throw new Error(`run ${runId} has no executions`)
    const { jobName, launchedAt, jobExecutionId } = first
    return { runId, jobName, launchedAt, firstExecutionId: jobExecutionId, devices: executions }
  }

  function earlierCall({ ownerNo, idempotency }: KeyQuestion): RecordedTrigger {
    const { key, requestHash, validAfter } = idempotency
    const earlier = findKey.get(ownerNo, key, validAfter)
    if (earlier === undefined) return 'unknown-key'
    const same = Buffer.compare(earlier.request_hash as Uint8Array, requestHash) === 0
    return same ? { replayed: launchedRun(earlier.run_id as number) } : 'idempotency-key-reused'
  }

  function recordTrigger(trigger: CheckedTrigger): RecordedTrigger {
    const { ownerNo, runId, launchedAt, idempotency } = trigger
    if (idempotency) {
      const earlier = earlierCall({ ownerNo, idempotency })
      if (earlier !== 'unknown-key') return earlier
      keepKey.run(ownerNo, idempotency.key, idempotency.requestHash, runId, launchedAt)
    }
    insertRun(trigger)
    insertExecutions(trigger)
    return trigger.readBack ? { created: launchedRun(runId) } : 'created'
  }

  return {
    lastIds(): { runId: number; jobExecutionId: number } {
      const row = lastId.get()
      return { runId: row?.run_id as number, jobExecutionId: row?.execution_id as number }
    },
    recordTriggers(questions: (CheckedTrigger | KeyQuestion)[]): RecordedTrigger[] {
      const last = questions.findLast((question) => 'runId' in question)
      if (last) setLastId.run(last.runId, last.firstExecutionId + last.total - 1)
      return questions.map((question) =>
        'runId' in question ? recordTrigger(question) : earlierCall(question),
      )
    },
    /** True while there may be more: one call takes a bite that does not hold the writer up. */
    forgetIdempotencyKeys(olderThan: number): boolean {
      return forgetKeys.run(olderThan).changes > 0
    },
  }
}
