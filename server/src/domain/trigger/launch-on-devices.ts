// A run on the devices that were chosen for it: in one write, or in batches if one does not hold them.

import type { Caller } from '../access/caller.ts'
import { parseTraceParent } from '../event/trace-parent.ts'
import type { AskedPlan } from '../rollout/plan-rollout.ts'
import { planRelease } from '../rollout/run-release.ts'
import type { Selected } from '../selector/select-devices.ts'
import { type LargeRunDeps, launchLargeRun } from './launch-large-run.ts'
import { type Launch, launchRun } from './trigger-job.ts'

/** `release`: how it is released; undefined: as its job says. */
type DevicesLaunch = Omit<Launch, 'deviceIds' | 'plan' | 'given' | 'retryOf'> & { release?: AskedPlan }
type Call = { idempotencyKey: string | undefined; traceParent?: string | undefined }

export async function launchOnDevices(
  deps: LargeRunDeps,
  caller: Caller,
  { release, ...launch }: DevicesLaunch,
  { deviceIds, deviceNos }: Pick<Selected, 'deviceIds' | 'deviceNos'>,
  { idempotencyKey, traceParent }: Call,
): Promise<{ runId: number }> {
  if (deviceIds !== undefined) {
    const planned = await planRelease(deps, caller, deviceIds, release)
    return launchRun(deps, caller, { ...launch, retryOf: null, ...planned }, idempotencyKey, traceParent)
  }
  const { window, priority, ...rest } = launch
  const options = {
    ...(release && { plan: release }),
    ...(window !== undefined && { window }),
    ...(priority !== undefined && { priority }),
  }
  const { runId } = await launchLargeRun(deps, caller, { ...rest, deviceNos, ...options }, idempotencyKey)
  // Without a span of its own: the run counts as part of the caller's.
  if (traceParent !== undefined && parseTraceParent(traceParent) !== undefined)
    await deps.traces?.keep({ ownerNo: caller.ownerNo, runId, traceParent })
  return { runId }
}
