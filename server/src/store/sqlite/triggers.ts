// The one hot write: a group of triggers, in one transaction, answered once it is on disk.

import type { DatabaseSync } from 'node:sqlite'
import type { Trigger } from '../../domain/store.ts'
import type { EventLog } from './events.ts'
import { prepareExecutions } from './executions.ts'
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
/** A trigger whose names were looked up and whose ids were given. */
export type CheckedTrigger = NewRun & {
  deviceNos: Int32Array
  idempotency: Trigger['idempotency']
}

/** Of a trigger that names what is not there: only whether its key belongs to an earlier call. */
export type KeyQuestion = { ownerNo: number; idempotency: NonNullable<Trigger['idempotency']> }

export type RecordedTrigger =
  | { kind: 'created' }
  /** The key belongs to the call that made this run; nothing was recorded. */
  | { kind: 'made-before'; runId: number }
  | { kind: 'key-reused' }
  | { kind: 'key-unknown' }

/** Without a log for whoever only looks. */
export function prepareTriggers(db: DatabaseSync, log?: EventLog) {
  const { insertRun } = prepareRuns(db)
  const { insertExecutions } = prepareExecutions(db)
  const lastId = db.prepare(LAST_ID)
  const setLastId = db.prepare(SET_LAST_ID)
  const findKey = db.prepare(FIND_KEY)
  const keepKey = db.prepare(KEEP_KEY)
  const forgetKeys = db.prepare(FORGET_KEYS)

  function earlierCall({ ownerNo, idempotency }: KeyQuestion): RecordedTrigger {
    const { key, requestHash, validAfter } = idempotency
    const earlier = findKey.get(ownerNo, key, validAfter)
    if (earlier === undefined) return { kind: 'key-unknown' }
    const same = Buffer.compare(earlier.request_hash as Uint8Array, requestHash) === 0
    return same ? { kind: 'made-before', runId: earlier.run_id as number } : { kind: 'key-reused' }
  }

  function recordTrigger(trigger: CheckedTrigger): RecordedTrigger {
    const { ownerNo, runId, launchedAt, idempotency } = trigger
    if (idempotency) {
      const earlier = earlierCall({ ownerNo, idempotency })
      if (earlier.kind !== 'key-unknown') return earlier
      keepKey.run(ownerNo, idempotency.key, idempotency.requestHash, runId, launchedAt)
    }
    insertRun(trigger)
    insertExecutions(trigger)
    log?.runCreated(trigger)
    return { kind: 'created' }
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
    purgeIdempotencyKeys(olderThan: number): boolean {
      return forgetKeys.run(olderThan).changes > 0
    },
  }
}
