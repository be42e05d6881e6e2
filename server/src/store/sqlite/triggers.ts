// The one hot write: a group of triggers, in one transaction, answered once it is on disk.

import type { DatabaseSync } from 'node:sqlite'
import type { Trigger } from '../../domain/store.ts'
import { select } from '../schema/column.ts'
import { idempotencyKey, lastId } from '../schema/tables.ts'
import type { EventLog } from './events.ts'

const LAST_IDS = select(lastId.fields)
const LAST_ID = `SELECT ${LAST_IDS} FROM last_id`
const SET_LAST_ID = 'UPDATE last_id SET run_id = ?, execution_id = ?'
const { requestHash, runId } = idempotencyKey.fields
const KEY = select({ requestHash, runId })
const FIND_KEY = `
  SELECT ${KEY} FROM idempotency_key WHERE owner_no = ? AND idempotency_key = ? AND created_at > ?`
// A key that is over its time is taken over by the new call.
const KEEP_KEY = `
  INSERT INTO idempotency_key (owner_no, idempotency_key, request_hash, run_id, created_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET request_hash = excluded.request_hash, run_id = excluded.run_id,
    created_at = excluded.created_at`
const INSERT_RUN = `
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending,
    expire_at, deadline_at, key_id, retry_of)
  VALUES (:runId, :ownerNo, :jobNo, :versionNo, :launchedAt, :firstExecutionId, :total, :total,
    :expireAt, :deadlineAt, :keyId, :retryOf)`
export const INSERT_EXECUTIONS = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
  SELECT ? + wanted.key, ?, ?, wanted.value, 'PENDING', 1, 1
  FROM json_each(?) AS wanted`

export type LastIds = { runId: number; jobExecutionId: number }

type NewRun = {
  runId: number
  ownerNo: number
  jobNo: number
  versionNo: number
  launchedAt: number
  firstExecutionId: number
  total: number
  expireAt: number | null
  deadlineAt: number | null
  keyId: string
  retryOf: number | null
}

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

export function readLastIds(db: DatabaseSync): LastIds {
  const { runId, jobExecutionId } = LAST_IDS.read(db.prepare(LAST_ID).get() ?? {})
  return { runId, jobExecutionId }
}

/** Without a log only to measure what it costs. */
export function prepareTriggers(db: DatabaseSync, log?: EventLog) {
  const setLastId = db.prepare(SET_LAST_ID)
  const findKey = db.prepare(FIND_KEY)
  const keepKey = db.prepare(KEEP_KEY)
  const insertRun = db.prepare(INSERT_RUN)
  const insertExecutions = db.prepare(INSERT_EXECUTIONS)

  function earlierCall({ ownerNo, idempotency }: KeyQuestion): RecordedTrigger {
    const { key, requestHash, validAfter } = idempotency
    const row = findKey.get(ownerNo, key, validAfter)
    if (row === undefined) return { kind: 'key-unknown' }
    const earlier = KEY.read(row)
    const same = Buffer.compare(earlier.requestHash, requestHash) === 0
    return same ? { kind: 'made-before', runId: earlier.runId } : { kind: 'key-reused' }
  }

  function recordTrigger({ deviceNos, idempotency, ...run }: CheckedTrigger): RecordedTrigger {
    const { ownerNo, runId, launchedAt, firstExecutionId } = run
    if (idempotency) {
      const earlier = earlierCall({ ownerNo, idempotency })
      if (earlier.kind !== 'key-unknown') return earlier
      keepKey.run(ownerNo, idempotency.key, idempotency.requestHash, runId, launchedAt)
    }
    insertRun.run(run)
    insertExecutions.run(firstExecutionId, runId, ownerNo, `[${deviceNos.join(',')}]`)
    log?.runCreated(run)
    return { kind: 'created' }
  }

  return {
    recordTriggers(questions: (CheckedTrigger | KeyQuestion)[]): RecordedTrigger[] {
      const last = questions.findLast((question) => 'runId' in question)
      if (last) setLastId.run(last.runId, last.firstExecutionId + last.total - 1)
      return questions.map((question) =>
        'runId' in question ? recordTrigger(question) : earlierCall(question),
      )
    },
  }
}
