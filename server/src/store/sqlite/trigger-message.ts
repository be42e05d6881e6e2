// The format of triggers in messages to the writer thread. Cloned objects contain the name of each field, for each trigger again,
// and a buffer for each list of devices; so a group of common triggers is sent as a few lists, with their keys. This reduced the
// time of the writer from 37 to 26 µs per trigger (bench/README.md), and shows in npm run bench -- --parts callers.

import type { SQLInputValue } from 'node:sqlite'
import type { NewRun } from '../../domain/trigger/launch-run.ts'
import type { Trigger } from '../../domain/trigger/trigger.ts'

/** For a trigger with unknown names: only looks up whether its key belongs to an earlier call. */
export type KeyQuestion = { ownerNo: number; idempotency: Trigger['idempotency'] }
/** A trigger with resolved names and assigned ids. */
export type RecordedRun = KeyQuestion &
  NewRun &
  Pick<Trigger, 'request' | 'values'> & { deviceNos?: Int32Array }
export type CheckedTrigger = RecordedRun & { deviceNos: Int32Array }

/**
 * `runs`: the fields of new runs (see `runs.ts`), one run after the other. `deviceNos`: the devices of all runs. `keys`: for each
 * run its idempotency key, the time of the call and the time before which keys are expired, or three times null; undefined: no run has a key.
 */
export type PackedTriggers = {
  runs: SQLInputValue[]
  deviceNos: Int32Array
  keys: (string | number | null)[] | undefined
  /** Hashes of the requests with a key, at the positions of their runs. */
  hashes: Uint8Array | undefined
  /** The details of their audit entries. */
  audits: string[]
}

export const fieldsPerKey = 3
export const bytesPerHash = 32

export const fieldsPerRun = 12
/** Positions in the fields of a run. */
export const positions = {
  runId: 0,
  ownerNo: 1,
  launchedAt: 4,
  firstExecutionId: 5,
  total: 6,
  keyId: 10,
} as const

/** Undefined if one of them is not suitable. */
export function packTriggers(questions: (CheckedTrigger | KeyQuestion)[]): PackedTriggers | undefined {
  const runs: SQLInputValue[] = []
  const audits: string[] = []
  let devices = 0
  for (const question of questions) {
    if (!isUsual(question)) return undefined
    const { runId, ownerNo, jobNo, jobVersion, launchedAt, firstExecutionId, total } = question
    const { expireAt, deadlineAt, keyId, retryOf } = question
    runs.push(runId, ownerNo, jobNo, jobVersion, launchedAt, firstExecutionId, total, total)
    runs.push(expireAt, deadlineAt, keyId, retryOf)
    audits.push(question.audit)
    devices += total
  }
  const deviceNos = new Int32Array(devices)
  let at = 0
  for (const question of questions as CheckedTrigger[]) {
    if (question.total === 1) deviceNos[at] = question.deviceNos[0] as number
    else deviceNos.set(question.deviceNos, at)
    at += question.total
  }
  return { runs, deviceNos, audits, ...packKeys(questions) }
}

function packKeys(questions: KeyQuestion[]): Pick<PackedTriggers, 'keys' | 'hashes'> {
  if (questions.every(({ idempotency }) => idempotency === null))
    return { keys: undefined, hashes: undefined }
  const keys: (string | number | null)[] = []
  const hashes = new Uint8Array(questions.length * bytesPerHash)
  questions.forEach(({ idempotency }, index) => {
    if (idempotency === null) keys.push(null, null, null)
    else {
      keys.push(idempotency.key, idempotency.madeAt, idempotency.validAfter)
      hashes.set(idempotency.requestHash, index * bytesPerHash)
    }
  })
  return { keys, hashes }
}

function isUsual(question: CheckedTrigger | KeyQuestion): question is CheckedTrigger {
  if (!('runId' in question)) return false
  const { rollout, request, values, window, priority } = question
  const isPlain = rollout === undefined && request === undefined && values === undefined
  return isPlain && window === undefined && priority === undefined
}
