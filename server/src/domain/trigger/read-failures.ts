// Why executions of a run did not succeed, and which values their devices share more often than the successful ones.

import type { RunFailures } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { ExecutionEvent } from '../execution/execution.ts'
import type { FailureGroup, SharedValue } from './ports/run-failures.ts'

type FailureDeps = { store: Store }

/** How many reasons are listed; the others are counted together. */
export const maxReasons = 20
/** Groups with the same wording are merged, so more are read than listed. */
const groupsRead = 100
const sampleSize = 20
const maxShared = 20
/** With more devices than this on one side, a sample is compared. */
const compared = 10_000
/** In percent. Between two samples of ten thousand devices, chance makes smaller differences. */
const leastDifference = 2
const million = 1_000_000

export async function readFailures(
  { store }: FailureDeps,
  { ownerNo }: Caller,
  runId: number,
): Promise<RunFailures> {
  const run = { ownerNo, runId }
  const stored = await store.countFailures({ ...run, groups: groupsRead, sampled: maxReasons })
  if (stored === undefined) throw notFound('J-304', runId)
  const { total, groups, succeeded } = stored
  const reasons = listReasons(groups, total)
  if (total === 0) return { total, reasons, shared: [] }
  const shared = await store.listSharedValues({
    ...run,
    failed: partOf(total),
    succeeded: partOf(succeeded),
    // A value of a single device is not shared, unless there is only one.
    least: Math.min(2, total),
    percent: leastDifference,
    limit: maxShared,
  })
  return { total, reasons, shared: shared.map(toShared) }
}

/** In parts of a million. */
function partOf(count: number): number {
  return count <= compared ? million : Math.round((compared / count) * million)
}

/** Most frequent first. Groups with the same wording are merged. */
export function listReasons(groups: FailureGroup[], total: number): RunFailures['reasons'] {
  const byWords = new Map<string, { reason: string; count: number; sample: string[] }>()
  for (const group of groups) {
    const reason = inWords(group)
    const known = byWords.get(reason)
    const count = (known?.count ?? 0) + group.count
    byWords.set(reason, { reason, count, sample: join(known?.sample ?? [], group.sample) })
  }
  const reasons = [...byWords.values()].sort((one, other) => other.count - one.count)
  const [listed, others] = [reasons.slice(0, maxReasons), reasons.slice(maxReasons)]
  const left = total - listed.reduce((sum, { count }) => sum + count, 0)
  if (left === 0) return listed
  const sample = others.reduce<string[]>((all, each) => join(all, each.sample.slice(0, 1)), [])
  return [...listed, { reason: 'other reasons', count: left, sample }]
}

function join(one: string[], other: string[]): string[] {
  return [...new Set([...one, ...other])].slice(0, sampleSize)
}

/** How the execution ended, for those without a reason from the device. */
const ends: Partial<Record<ExecutionEvent, string>> = {
  expire: ': waited longer than expireAfterSeconds allows',
  'time-out': ': the device worked longer than timeoutSeconds, or its own step timeout, allows',
  'miss-deadline': ': it took longer in total than deadlineSeconds allows',
  cancel: ' after it was sent to the device',
  'confirm-cancel': ' after it was sent to the device',
  'overrun-cancel': ': the device did not confirm in time',
  'force-cancel': ' by force',
  'remove-device': ': the device was deleted',
  'rollout-stopped': ': the run was stopped',
  superseded: ': replaced by a later run',
  'no-longer-matching': ': the device no longer matched the selector of the schedule',
}

function inWords({ execState, event, reason }: FailureGroup): string {
  const how = event && ends[event]
  return reason ?? `${execState}${how ?? ', without a reason'}`
}

function toShared({ isTag, isHidden, name, ...shared }: SharedValue): RunFailures['shared'][number] {
  return { name: isTag ? 'tag' : isHidden ? `reported.${name}` : name, ...shared }
}
