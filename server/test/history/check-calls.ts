// Compares responses with runs: each 201 has exactly one run with the same content; an idempotency key has one run; refused calls
// created nothing; calls without a response created their run or nothing; and there is no other run.

import type { Final, History, RecordedCall } from './history.ts'
import type { TriggerAnswer } from './trigger-answer.ts'

type Created = Extract<TriggerAnswer, { kind: 'created' }>
type Calls = Pick<History, 'calls'>
type Stored = Pick<Final, 'runs' | 'executions'>

/** The code of an idempotency key that was used with another request. */
const keyReused = 'J-501'

export function checkCalls({ calls }: Calls, { runs, executions }: Stored): string[] {
  const problems: string[] = []
  const jobOf = new Map(runs.map(({ runId, jobName }) => [runId, jobName]))
  const inOrder = executions.toSorted((a, b) => a.jobExecutionId - b.jobExecutionId)
  const byRun = Map.groupBy(inOrder, ({ runId }) => runId)
  const textOf = (runId: number) => JSON.stringify((byRun.get(runId) ?? []).map(({ deviceId }) => deviceId))
  const claimed = new Map<number, RecordedCall>()
  const runOfKey = new Map<string, number>()

  for (const call of calls) {
    for (const answer of call.answers) {
      if (answer.kind === 'broken') problems.push(`${nameOf(call)} was answered ${answer.text}`)
      if (answer.kind === 'refused' && answer.code === keyReused && !isReused(call, calls))
        problems.push(`${nameOf(call)} was told that its key is of another call`)
      if (answer.kind !== 'created') continue
      const { runId } = answer
      const other = claimed.get(runId)
      const isReplay = other !== undefined && call.key !== undefined && askedOf(other) === askedOf(call)
      if (other && !isReplay)
        problems.push(`run ${runId} answers two calls: ${nameOf(other)}, ${nameOf(call)}`)
      claimed.set(runId, call)
      if (call.key !== undefined) {
        const first = runOfKey.get(call.key) ?? runId
        if (first !== runId) problems.push(`key ${call.key} made two runs: ${first} and ${runId}`)
        runOfKey.set(call.key, first)
      }
      if (jobOf.get(runId) === undefined) problems.push(`run ${runId} of ${nameOf(call)} is lost`)
      else if (jobOf.get(runId) !== call.jobName) problems.push(`run ${runId} is of another job`)
      else if (!isStoredAs(answer, byRun.get(runId) ?? [])) {
        problems.push(`run ${runId} is not stored as it was answered`)
      } else if (textOf(runId) !== devicesOf(call))
        problems.push(`run ${runId} has other devices than its call`)
    }
  }

  const open = calls.filter(
    ({ key, answers }) =>
      answers.some(({ kind }) => kind === 'unknown' || kind === 'broken') &&
      !answers.some(({ kind }) => kind === 'created') &&
      !(key !== undefined && runOfKey.has(key)),
  )
  for (const { runId, jobName, scheduleName } of runs) {
    // Runs of schedules have no call (check-schedules.ts).
    if (claimed.has(runId) || scheduleName !== null) continue
    const devices = textOf(runId)
    const isIts = (call: RecordedCall) => call.jobName === jobName && devicesOf(call) === devices
    const index = open.findIndex(isIts)
    if (index >= 0) {
      const [{ key } = { key: undefined }] = open.splice(index, 1)
      // Of all requests with one key one may have its run.
      for (let at = open.length - 1; key !== undefined && at >= 0; at--) {
        if (open[at]?.key === key) open.splice(at, 1)
      }
      continue
    }
    const like = calls.filter(isIts)
    problems.push(`run ${runId} of ${jobName} should not exist: ${reasonOf(like)}`)
  }
  return problems
}

function reasonOf(like: RecordedCall[]): string {
  const kinds = new Set(like.flatMap(({ answers }) => answers.map(({ kind }) => kind)))
  if (kinds.has('created')) return 'its call has another run already'
  if (kinds.has('refused')) return 'its call was told that nothing was created'
  return like.length > 0 ? 'its calls have other runs already' : 'nobody asked for it'
}

/** Another call of the same owner used its key for another request. */
function isReused(call: RecordedCall, calls: RecordedCall[]): boolean {
  return calls.some((other) => other.key === call.key && askedOf(other) !== askedOf(call))
}

function isStoredAs(answer: Created, stored: { jobExecutionId: number; deviceId: string }[]): boolean {
  const { executions } = answer
  if (executions === undefined) return true
  return (
    executions.length === stored.length &&
    executions.every(({ jobExecutionId, deviceId }, index) => {
      const other = stored[index]
      return other?.jobExecutionId === jobExecutionId && other.deviceId === deviceId
    })
  )
}

/** Calls with one key and one meaning have one answer. */
const askedOf = ({ key, jobName, deviceIds, asked }: RecordedCall) =>
  JSON.stringify([key, jobName, deviceIds, asked])

const devicesOf = ({ deviceIds }: RecordedCall) => JSON.stringify([...new Set(deviceIds)])

const nameOf = ({ jobName, key, deviceIds }: RecordedCall) =>
  `${jobName}${key === undefined ? '' : ` (key ${key})`} on ${deviceIds.slice(0, 3).join()}${deviceIds.length > 3 ? '…' : ''}`
