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

/** Of a plan: for which version of the job it was made, and how the run is released; undefined: at once. */
type Bound = { jobVersion: number; release: AskedPlan | undefined; sizes: number[] }

/** The same on devices in the order of their release. If its job says otherwise by now, nothing is made (J-502). */
export function launchArranged(
  deps: LargeRunDeps,
  caller: Caller,
  launch: Omit<DevicesLaunch, 'release'>,
  { jobVersion, release, sizes }: Bound,
  devices: Pick<Selected, 'deviceIds' | 'deviceNos'>,
  call: Call,
): Promise<{ runId: number }> {
  const { startAt } = release ?? {}
  const begin = startAt === undefined ? {} : { startAt }
  const plan = release && {
    ...{ jobVersion, rollout: release.rollout, approval: release.approval, sizes },
    ...begin,
  }
  return launchPlanned(deps, caller, { ...launch, isBound: true, ...(plan && { plan }) }, devices, call)
}

export async function launchOnDevices(
  deps: LargeRunDeps,
  caller: Caller,
  { release, ...launch }: DevicesLaunch,
  { deviceIds, deviceNos }: Pick<Selected, 'deviceIds' | 'deviceNos'>,
  call: Call,
): Promise<{ runId: number }> {
  if (deviceIds === undefined) {
    const asked = release && { askedPlan: release }
    return launchPlanned(deps, caller, { ...launch, ...asked }, { deviceIds, deviceNos }, call)
  }
  const { deviceIds: ordered, plan } = await planRelease(deps, caller, deviceIds, release)
  const devices = { deviceIds: ordered, deviceNos }
  return launchPlanned(deps, caller, { ...launch, ...(plan && { plan }) }, devices, call)
}

/** `askedPlan`: of a large run, whose devices are not in the order of their release yet. */
type PlannedLaunch = Omit<Launch, 'deviceIds' | 'given' | 'retryOf'> & { askedPlan?: AskedPlan }

async function launchPlanned(
  deps: LargeRunDeps,
  caller: Caller,
  { askedPlan, ...launch }: PlannedLaunch,
  { deviceIds, deviceNos }: Pick<Selected, 'deviceIds' | 'deviceNos'>,
  { idempotencyKey, traceParent }: Call,
): Promise<{ runId: number }> {
  if (deviceIds !== undefined) {
    return launchRun(deps, caller, { ...launch, deviceIds, retryOf: null }, idempotencyKey, traceParent)
  }
  const { window, priority, ...rest } = launch
  const options = {
    ...(askedPlan && { askedPlan }),
    ...(window !== undefined && { window }),
    ...(priority !== undefined && { priority }),
  }
  const { runId } = await launchLargeRun(deps, caller, { ...rest, deviceNos, ...options }, idempotencyKey)
  // Without a span of its own: the run counts as part of the caller's.
  if (traceParent !== undefined && parseTraceParent(traceParent) !== undefined)
    await deps.traces?.keep({ ownerNo: caller.ownerNo, runId, traceParent })
  return { runId }
}
