import { jobcast } from './client.ts'

/** Reasons that hold back all executions of a run. */
const ofRun: string[] = [
  'SCHEDULED',
  'AWAITING_APPROVAL',
  'RUN_PAUSED',
  'NOT_RELEASED',
  'RELEASE_FAILING',
  'FROZEN',
]

/** Explains one waiting execution: if nothing has begun, all wait for the same reason, or each for its device. */
export async function readWhyWaiting(runId: number, options: { signal: AbortSignal }) {
  const query = { runId, execState: ['PENDING' as const], limit: 1 }
  const [last] = (await jobcast.executions.list(query, options).page()).items
  if (last === undefined) return null
  const { code, text, until } = await jobcast.executions.explain(last.jobExecutionId, options)
  return { text, until, deviceId: ofRun.includes(code) ? null : last.deviceId }
}
