// A group of triggers on its way to the writer thread. A clone of an object spells out the name of each field, for each
// trigger anew, and a buffer for each list of devices; so a group of usual triggers travels as two lists.

import type { SQLInputValue } from 'node:sqlite'
import type { NewRun } from '../../domain/trigger/launch-run.ts'
import type { Trigger } from '../../domain/trigger/trigger.ts'

/** Of a trigger that names what is not there: only whether its key belongs to an earlier call. */
export type KeyQuestion = { ownerNo: number; idempotency: Trigger['idempotency'] }
/** A trigger whose names were looked up and whose ids were given. */
export type RecordedRun = KeyQuestion &
  NewRun &
  Pick<Trigger, 'request' | 'values'> & { deviceNos?: Int32Array }
export type CheckedTrigger = RecordedRun & { deviceNos: Int32Array }

/** `runs`: the fields of a new run, as `runs.ts` has them, one run after the other. `deviceNos`: of all runs. */
export type PackedTriggers = { runs: SQLInputValue[]; deviceNos: Int32Array }

export const fieldsPerRun = 12
/** Where in the fields of a run it stands. */
export const positions = { runId: 0, ownerNo: 1, launchedAt: 4, firstExecutionId: 5, total: 6 } as const

/** Undefined if one of them is not a usual one. */
export function packTriggers(questions: (CheckedTrigger | KeyQuestion)[]): PackedTriggers | undefined {
  const runs: SQLInputValue[] = []
  let devices = 0
  for (const question of questions) {
    if (!isUsual(question)) return undefined
    const { runId, ownerNo, jobNo, jobVersion, launchedAt, firstExecutionId, total } = question
    const { expireAt, deadlineAt, keyId, retryOf } = question
    runs.push(runId, ownerNo, jobNo, jobVersion, launchedAt, firstExecutionId, total, total)
    runs.push(expireAt, deadlineAt, keyId, retryOf)
    devices += total
  }
  const deviceNos = new Int32Array(devices)
  let at = 0
  for (const question of questions as CheckedTrigger[]) {
    if (question.total === 1) deviceNos[at] = question.deviceNos[0] as number
    else deviceNos.set(question.deviceNos, at)
    at += question.total
  }
  return { runs, deviceNos }
}

function isUsual(question: CheckedTrigger | KeyQuestion): question is CheckedTrigger {
  if (!('runId' in question) || question.idempotency !== null) return false
  const { rollout, request, values, window, priority } = question
  const isPlain = rollout === undefined && request === undefined && values === undefined
  return isPlain && window === undefined && priority === undefined
}
