// Facts for messages about a run that are not in its event: the version, the waves, and why devices did not succeed.

import type { Store } from '../common/ports/store.ts'
import type { StoredEvent } from '../event/event.ts'
import { unsuccessfulEnds } from '../execution/execution.ts'
import type { StoredRun } from '../trigger/ports/runs.ts'
import { listReasons } from '../trigger/read-failures.ts'
import { runInReach } from '../trigger/run-in-reach.ts'
import type { StoredWebhook } from './ports/webhooks.ts'

export type RunFacts = {
  total: number
  version: number
  /** Undefined: the run has no rollout. */
  waves: number | undefined
  /** A stop rule or a closed gate paused the run, not a person. */
  isByFailures: boolean
  failures: number
  /** All unsuccessful executions are FAILED. */
  allFailed: boolean
  /** The most frequent ones. */
  reasons: { reason: string; count: number }[]
}

export type FactsStore = Pick<Store, 'getRun' | 'getRollout' | 'countFailures' | 'countRunsWithin'>

const maxReasons = 3
const groupsRead = 100

/** Undefined for events that are not about a run or an execution, and for runs that are purged. */
export async function readRunFacts(
  store: FactsStore,
  webhook: Pick<StoredWebhook, 'ownerNo' | 'restriction'>,
  { type, data }: StoredEvent,
): Promise<RunFacts | undefined> {
  if (!/^(?:run|execution)\./.test(type) || !('runId' in data) || typeof data.runId !== 'number')
    return undefined
  const { ownerNo, restriction } = webhook
  const run = { ownerNo, runId: data.runId }
  const found = await store.getRun(run)
  if (found === undefined) return undefined
  if (restriction !== null) {
    const seen = await runInReach({ store }, { ownerNo, restriction }, found)
    if (seen === undefined) return undefined
    if (!seen.isWhole) return factsOfPart(seen.run)
  }
  const rollout = await store.getRollout(run)
  const failures = await store.countFailures({ ...run, groups: groupsRead, sampled: 0 })
  const { total: failed = 0, groups = [] } = failures ?? {}
  const rule = rollout?.rollout.status.pausedCause?.rule
  const given = groups.filter(({ reason }) => reason !== null)
  return {
    total: found.total,
    version: found.version,
    waves: rollout?.rollout.plan.sizes.length,
    isByFailures: rule === 'STOP_RULE' || rule === 'GATE_CLOSED',
    failures: failed,
    allFailed: groups.every(({ execState }) => execState === 'FAILED'),
    reasons: listReasons(
      given,
      given.reduce((sum, { count }) => sum + count, 0),
    ).slice(0, maxReasons),
  }
}

/** Rollouts and reasons cover all devices of the run, so a webhook that is restricted to some of them does not send these. */
function factsOfPart({ total, version, counts }: StoredRun): RunFacts {
  const failures = unsuccessfulEnds.reduce((sum, state) => sum + counts[state], 0)
  const allFailed = failures === counts.FAILED
  return { total, version, waves: undefined, isByFailures: false, failures, allFailed, reasons: [] }
}
