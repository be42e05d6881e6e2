// Responses with a run and its rollout.

import { Run } from '@jobcast/contract'
import type { Caller } from '../../domain/access/caller.ts'
import { notFound } from '../../domain/common/not-found.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import { type ViewDeps, viewRollouts } from '../../domain/rollout/view-rollout.ts'
import type { StoredRun } from '../../domain/trigger/ports/runs.ts'
import { type RunInReach, type RunReachDeps, runInReach } from '../../domain/trigger/run-in-reach.ts'
import { replayedDescription, replayedHeader } from './idempotency-key.ts'
import { toRun } from './to-wire.ts'

/** The response to a call that creates a run. */
export const CreatedRun = {
  ...Run,
  headers: {
    location: { type: 'string', description: 'The run: /job/api/runs/{runId}' },
    [replayedHeader]: replayedDescription,
  },
}

export type AnswerRunDeps = ViewDeps & { store: Pick<Store, 'getRun' | 'countRunsWithin'> }

/** Returns the current state of the run. */
export async function answerRun(deps: AnswerRunDeps, caller: Caller, runId: number): Promise<Run> {
  const run = await deps.store.getRun({ ownerNo: caller.ownerNo, runId })
  if (run === undefined) throw notFound('J-304', runId)
  return toRunWithRollout(deps, caller, run)
}

export async function toRunWithRollout(
  deps: ViewDeps & RunReachDeps,
  caller: Caller,
  run: StoredRun,
): Promise<Run> {
  const seen = await runInReach(deps, caller, run)
  if (seen === undefined) throw notFound('J-304', run.runId)
  const [answer] = await toRunsInReach(deps, caller, [seen], { withGates: true })
  return answer as Run
}

/** A rollout belongs to the whole run, so callers that see only part of the run do not get it. */
export async function toRunsInReach(
  deps: ViewDeps,
  caller: Caller,
  runs: readonly RunInReach[],
  { withGates } = { withGates: false },
): Promise<Run[]> {
  const whole = runs.filter(({ isWhole }) => isWhole).map(({ run }) => run)
  const rollouts = await viewRollouts(deps, caller, whole, { withGates })
  return runs.map(({ run }) => toRun(run, rollouts))
}
