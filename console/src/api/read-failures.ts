import type { Execution } from '@jobcast/client'
import { failedStates } from '../parts/exec-state.ts'
import { jobcast } from './client.ts'

/** Enough to see what they have in common. */
const readAtMost = 1000

export async function readFailures(
  runId: number,
  options: { signal: AbortSignal },
): Promise<{ items: Execution[]; hasMore: boolean }> {
  const items: Execution[] = []
  const all = jobcast.executions.list({ runId, execState: [...failedStates], limit: 200 }, options)
  for await (const execution of all) {
    if (items.length === readAtMost) return { items, hasMore: true }
    items.push(execution)
  }
  return { items, hasMore: false }
}
