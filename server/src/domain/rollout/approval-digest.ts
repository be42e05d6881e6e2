// The digest of what is approved. A job version never changes, and neither do the devices and values of a run, so the
// digest covers only their names; rules, window and the groups of the gate may change, so it covers their content.

import { hash } from 'node:crypto'
import type { Store } from '../common/ports/store.ts'
import type { StoredRun } from '../trigger/ports/runs.ts'
import type { StoredRollout } from './rollout.ts'
import { groupsOfGate } from './rollout-selectors.ts'

export type DigestDeps = { store: Pick<Store, 'getRun' | 'getWindow' | 'findGroups'> }

/** Undefined: the run no longer exists. */
export async function readDigest(deps: DigestDeps, rollout: StoredRollout): Promise<string | undefined> {
  const { ownerNo, runId } = rollout
  const run = await deps.store.getRun({ ownerNo, runId })
  return run && digestOf(deps, rollout, run)
}

export async function digestOf(
  { store }: { store: Pick<Store, 'getWindow' | 'findGroups'> },
  { ownerNo, runId, firstExecutionId, total, plan: { rollout, sizes } }: StoredRollout,
  { jobName, version, jobVersion, parameters, window: windowName }: StoredRun,
): Promise<string> {
  const window = windowName === null ? undefined : await store.getWindow({ ownerNo, windowName })
  const { cron, durationMinutes, timeZone, cutoffMinutes, except } = window ?? {}
  const groups = await groupsOfGate({ store }, ownerNo, rollout)
  const parts = {
    ...{ jobName, version, jobVersion, parameters },
    targets: { runId, firstExecutionId, total },
    ...{ rollout, sizes, windowName },
    window: [cron, durationMinutes, timeZone, cutoffMinutes, except],
    // Left out when empty, so that digests from before groups were included stay valid.
    ...(groups.length > 0 && { groups: groups.map(({ groupName, where }) => [groupName, where]) }),
  }
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
