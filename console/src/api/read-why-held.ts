import { jobcast } from './client.ts'

/** The last execution in the order of release is held as long as any is. Its explanation names the gate before the next wave. */
export async function readWhyHeld(runId: number, options: { signal: AbortSignal }): Promise<string | null> {
  const query = { runId, execState: ['PENDING' as const], limit: 1 }
  const [last] = (await jobcast.executions.list(query, options).page()).items
  if (last === undefined) return null
  const { code, text } = await jobcast.executions.explain(last.jobExecutionId, options)
  const gate = text.replace(/^It is in wave \d+; w/, 'W')
  return code !== 'NOT_RELEASED' || gate.startsWith('It ') ? null : gate
}
