// Reads one execution or run, at once or after waiting for its end.

import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredRun } from '../trigger/ports/runs.ts'
import { type RunInReach, runInReach } from '../trigger/run-in-reach.ts'
import { isTerminal } from './execution.ts'
import type { StoredExecution } from './ports/executions.ts'
import { type WaitDeps, type WaitLimit, waitForEnd } from './wait-for-end.ts'

export type ReadDeps = WaitDeps & { store: Store }

export function readExecution(
  deps: ReadDeps,
  caller: Caller,
  jobExecutionId: number,
  waitLimit: WaitLimit,
): Promise<StoredExecution> {
  const read = async () => {
    const execution = await deps.store.getExecution({ ownerNo: caller.ownerNo, jobExecutionId })
    if (execution === undefined) throw notFound('J-302', jobExecutionId)
    return execution
  }
  return waitForEnd(deps, read, (execution) => isTerminal(execution.execState), waitLimit)
}

export async function readRun(
  deps: ReadDeps,
  caller: Caller,
  runId: number,
  waitLimit: WaitLimit,
): Promise<RunInReach> {
  const read = async () => {
    const run = await deps.store.getRun({ ownerNo: caller.ownerNo, runId })
    const seen = run && (await runInReach(deps, caller, run))
    if (seen === undefined) throw notFound('J-304', runId)
    return { runId, seen }
  }
  const { seen } = await waitForEnd(deps, read, (last) => isFinished(last.seen.run), waitLimit)
  return seen
}

export function isFinished({ counts }: Pick<StoredRun, 'counts'>): boolean {
  return counts.PENDING + counts.IN_PROGRESS + counts.CANCELING === 0
}
