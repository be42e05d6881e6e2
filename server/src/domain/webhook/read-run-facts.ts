// What a message about a run says beside its event: the version, the waves, and why devices did not succeed.

import type { Store } from '../common/ports/store.ts'
import type { StoredEvent } from '../event/event.ts'
import { listReasons } from '../trigger/read-failures.ts'

export type RunFacts = {
  total: number
  version: number
  /** Undefined: it has no rollout. */
  waves: number | undefined
  /** Too many devices did not succeed: that stopped it, and not a person. */
  isByFailures: boolean
  failures: number
  /** All of them ended as FAILED. */
  allFailed: boolean
  /** The most frequent ones. */
  reasons: { reason: string; count: number }[]
}

export type FactsStore = Pick<Store, 'getRun' | 'getRollout' | 'countFailures'>

const maxReasons = 3
const groupsRead = 100

/** Undefined for events that are not about a run or an execution, and for runs that are purged. */
export async function readRunFacts(
  store: FactsStore,
  ownerNo: number,
  { type, data }: StoredEvent,
): Promise<RunFacts | undefined> {
  if (!/^(?:run|execution)\./.test(type) || !('runId' in data) || typeof data.runId !== 'number')
    return undefined
  const run = { ownerNo, runId: data.runId }
  const found = await store.getRun(run)
  if (found === undefined) return undefined
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
