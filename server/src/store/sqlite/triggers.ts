// The most frequent write: a group of triggers, in one transaction, answered once it is on disk.

import type { DatabaseSync } from 'node:sqlite'
import type { SteadyInstant } from '../../domain/common/instants.ts'
import { eventsAtBegin } from '../../domain/rollout/rollout.ts'
import { type EarlierCall, judgeKey, type NewRun, requestOf } from '../../domain/trigger/launch-run.ts'
import { insertInto } from '../queries.ts'
import { select } from '../schema/column.ts'
import { idempotencyKey, lastId, runParameters, runRequest } from '../schema/tables.ts'
import { INSERT_ROLLOUT, toRolloutRow } from '../tables/rollouts.ts'
import { hasValues, newRunFields, toRunRow, toValuesRow } from '../tables/runs.ts'
import type { EventLog } from './events.ts'
import { prepareNamed } from './named-queries.ts'
import type { CheckedTrigger, KeyQuestion, RecordedRun } from './trigger-message.ts'
import {
  bytesPerHash,
  fieldsPerKey,
  fieldsPerRun,
  type PackedTriggers,
  positions,
} from './trigger-message.ts'

const LAST_IDS = select(lastId.fields)
const LAST_ID = `SELECT ${LAST_IDS} FROM last_id` as const
// Never decreases: a small trigger with higher ids may be written during a large run.
const SET_LAST_ID = `
  UPDATE last_id SET run_id = max(run_id, :runId), execution_id = max(execution_id, :jobExecutionId)`
const KEY = select(idempotencyKey.pick('requestHash', 'runId'))
const FIND_KEY = `
  SELECT ${KEY} FROM idempotency_key
  WHERE owner_no = :ownerNo AND idempotency_key = :key AND created_at > :validAfter` as const
// A new call takes over an expired key; otherwise nothing changes.
const CLAIM_KEY = `
  INSERT INTO idempotency_key (owner_no, idempotency_key, request_hash, run_id, created_at)
  VALUES (:ownerNo, :key, :requestHash, :runId, :madeAt)
  ON CONFLICT DO UPDATE SET request_hash = excluded.request_hash, run_id = excluded.run_id,
    created_at = excluded.created_at
  WHERE created_at <= :validAfter`
export const INSERT_EXECUTIONS = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, priority, state, attempt, version_number)
  SELECT ? + wanted.key, ?, ?, wanted.value, ?, 'PENDING', 1, 1
  FROM json_each(?) AS wanted`
const INSERT_EXECUTION = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
  VALUES (?, ?, ?, ?, 'PENDING', 1, 1)`

export type LastIds = { runId: number; jobExecutionId: number }

/** For an EarlierCall, nothing was recorded. */
export type RecordedTrigger = { kind: 'created' } | EarlierCall | { kind: 'key-unknown' }

export function readLastIds(db: DatabaseSync): LastIds {
  const { runId, jobExecutionId } = LAST_IDS.read(db.prepare(LAST_ID).get() ?? {})
  return { runId, jobExecutionId }
}

/** `log` is only omitted in benchmarks. */
export function prepareTriggers(db: DatabaseSync, log?: EventLog) {
  const setLastId = prepareNamed(db, SET_LAST_ID)
  const findKey = prepareNamed(db, FIND_KEY)
  const claimKey = prepareNamed(db, CLAIM_KEY)
  const insertRun = prepareNamed(db, insertInto(newRunFields))
  const insertRollout = prepareNamed(db, INSERT_ROLLOUT)
  const insertRequest = prepareNamed(db, insertInto(runRequest.fields))
  const insertParameters = prepareNamed(db, insertInto(runParameters.fields))
  const insertExecutions = db.prepare(INSERT_EXECUTIONS)
  const insertExecution = db.prepare(INSERT_EXECUTION)

  function earlierCall({ ownerNo, idempotency }: KeyQuestion): EarlierCall | undefined {
    if (!idempotency) return undefined
    const { key, requestHash, validAfter } = idempotency
    const row = findKey.get({ ownerNo, key, validAfter })
    return row && judgeKey(KEY.read(row), requestHash)
  }

  /** Undefined: the run has claimed its key, if any. */
  function claim({ ownerNo, idempotency }: KeyQuestion, runId: number): EarlierCall | undefined {
    if (!idempotency) return undefined
    const changed = claimKey.run({ ownerNo, runId, ...idempotency })
    return changed === 0 ? earlierCall({ ownerNo, idempotency }) : undefined
  }

  /** Without numbers, its executions are already written (draft-writer.ts). */
  function recordTrigger(question: RecordedRun | KeyQuestion): RecordedTrigger {
    if (!('runId' in question)) return earlierCall(question) ?? { kind: 'key-unknown' }
    const { ownerNo, runId, launchedAt, firstExecutionId, deviceNos, rollout } = question
    const earlier = claim(question, runId)
    if (earlier) return earlier
    insertRun.run(toRunRow(question))
    const request = requestOf(question, question)
    if (request) insertRequest.run(request)
    if (hasValues(question.values)) insertParameters.run(toValuesRow(question.values, runId))
    if (deviceNos) {
      const wanted = `[${deviceNos.join(',')}]`
      insertExecutions.run(firstExecutionId, runId, ownerNo, question.priority ?? null, wanted)
    }
    log?.runChanged('run.created', { ownerNo, runId, at: launchedAt })
    log?.runAudited(ownerNo, runId, launchedAt, question.keyId, question.audit)
    if (rollout) {
      insertRollout.run(toRolloutRow(rollout))
      for (const { type, details } of eventsAtBegin(rollout)) {
        log?.runChanged(type, { ownerNo, runId, at: launchedAt, details })
      }
    }
    return { kind: 'created' }
  }

  /** Undefined: all runs were created. */
  function recordPacked(packed: PackedTriggers): RecordedTrigger[] | undefined {
    const { runs, deviceNos, audits } = packed
    let recorded: RecordedTrigger[] | undefined
    let from = 0
    let last: LastIds | undefined
    for (let at = 0; at < runs.length; at += fieldsPerRun) {
      const fields = runs.slice(at, at + fieldsPerRun)
      const [runId, ownerNo] = [fields[positions.runId] as number, fields[positions.ownerNo] as number]
      const firstExecutionId = fields[positions.firstExecutionId] as number
      const total = fields[positions.total] as number
      const index = at / fieldsPerRun
      const earlier = claim({ ownerNo, idempotency: keyAt(packed, index) }, runId)
      if (earlier) {
        recorded ??= new Array(runs.length / fieldsPerRun).fill({ kind: 'created' })
        recorded[index] = earlier
        from += total
        continue
      }
      insertRun.runWith(fields)
      if (total === 1) insertExecution.run(firstExecutionId, runId, ownerNo, deviceNos[from] as number)
      else {
        const wanted = `[${deviceNos.subarray(from, from + total).join(',')}]`
        insertExecutions.run(firstExecutionId, runId, ownerNo, null, wanted)
      }
      const launchedAt = fields[positions.launchedAt] as number
      log?.runCreated(ownerNo, runId, launchedAt)
      log?.runAudited(ownerNo, runId, launchedAt, fields[positions.keyId] as string, audits[index] as string)
      from += total
      last = { runId, jobExecutionId: firstExecutionId + total - 1 }
    }
    // The ids of a repeated call may be used for the next one.
    if (last) setLastId.run(last)
    return recorded
  }

  function setLastIds({ runId, firstExecutionId, total }: NewRun): void {
    setLastId.run({ runId, jobExecutionId: firstExecutionId + total - 1 })
  }

  return {
    earlierCall,
    setLastIds,
    recordRun: recordTrigger,
    recordPacked,
    recordTriggers(questions: (CheckedTrigger | KeyQuestion)[]): RecordedTrigger[] {
      const recorded = questions.map(recordTrigger)
      // The ids of a repeated call may be used for the next one.
      const isNew = (question: CheckedTrigger | KeyQuestion, index: number) =>
        'runId' in question && recorded[index]?.kind === 'created'
      const last = questions.findLast(isNew)
      if (last && 'runId' in last) setLastIds(last)
      return recorded
    },
  }
}

function keyAt({ keys, hashes }: PackedTriggers, index: number): KeyQuestion['idempotency'] {
  const at = index * fieldsPerKey
  const key = keys?.[at]
  if (hashes === undefined || typeof key !== 'string') return null
  const requestHash = hashes.subarray(index * bytesPerHash, (index + 1) * bytesPerHash)
  const [madeAt, validAfter] = [keys?.[at + 1] as SteadyInstant, keys?.[at + 2] as SteadyInstant]
  return { key, requestHash, madeAt, validAfter }
}
