// Creates a run on selected devices: in one write, or in batches if there are too many.

import type { Caller } from '../access/caller.ts'
import { parseTraceParent } from '../event/trace-parent.ts'
import type { RequestedPlan } from '../rollout/plan-rollout.ts'
import { planRelease } from '../rollout/run-release.ts'
import type { Selected } from '../selector/select-devices.ts'
import { type LargeRunDeps, launchLargeRun } from './launch-large-run.ts'
import { type Launch, launchRun } from './trigger-job.ts'

/** `release`: undefined: as the job defines. */
type DevicesLaunch = Omit<Launch, 'deviceIds' | 'plan' | 'given' | 'retryOf'> & { release?: RequestedPlan }
type Call = { idempotencyKey: string | undefined; traceParent?: string | undefined }

/** What a plan fixed: the job version, and how the run is released; undefined: all at once. */
type Bound = { jobVersion: number; release: RequestedPlan | undefined; sizes: number[] }

/** Creates it on devices in the order of their release. Throws J-502 if the job has changed its release meanwhile. */
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
    const asked = release && { requestedPlan: release }
    return launchPlanned(deps, caller, { ...launch, ...asked }, { deviceIds, deviceNos }, call)
  }
  const { deviceIds: ordered, plan } = await planRelease(deps, caller, deviceIds, release)
  const devices = { deviceIds: ordered, deviceNos }
  return launchPlanned(deps, caller, { ...launch, ...(plan && { plan }) }, devices, call)
}

/** `requestedPlan`: for a large run, whose devices are not in the order of their release yet. */
type PlannedLaunch = Omit<Launch, 'deviceIds' | 'given' | 'retryOf'> & { requestedPlan?: RequestedPlan }

async function launchPlanned(
  deps: LargeRunDeps,
  caller: Caller,
  { requestedPlan, ...launch }: PlannedLaunch,
  { deviceIds, deviceNos }: Pick<Selected, 'deviceIds' | 'deviceNos'>,
  { idempotencyKey, traceParent }: Call,
): Promise<{ runId: number }> {
  if (deviceIds !== undefined) {
    return launchRun(deps, caller, { ...launch, deviceIds, retryOf: null }, idempotencyKey, traceParent)
  }
  const { window, priority, ...rest } = launch
  const options = {
    ...(requestedPlan && { requestedPlan }),
    ...(window !== undefined && { window }),
    ...(priority !== undefined && { priority }),
  }
  const { runId } = await launchLargeRun(deps, caller, { ...rest, deviceNos, ...options }, idempotencyKey)
  // It has no span of its own: the run becomes part of the caller's span.
  if (traceParent !== undefined && parseTraceParent(traceParent) !== undefined)
    await deps.traces?.keep({ ownerNo: caller.ownerNo, runId, traceParent })
  return { runId }
}
