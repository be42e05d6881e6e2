// What a trigger creates: a run of a job on devices, or nothing.

import { defaultPriority } from '@jobcast/contract/words'
import { runDetails } from '../audit/audit-entry.ts'
import { laterBy, type SteadyInstant, steadyInstant, type WallInstant } from '../common/instants.ts'
import { heldAsNow } from '../job/held-as-now.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import { approvalUnder, withHands } from '../rollout/approval.ts'
import { beginRollout, waitFor } from '../rollout/judge-rollout.ts'
import type { StoredRollout } from '../rollout/rollout.ts'
import type { DeviceList, LaunchedDevice, LaunchedRun } from './launched-run.ts'
import type { RunRequest, RunSchedule } from './ports/runs.ts'
import type { RunJob, Trigger, TriggerOutcome } from './trigger.ts'

export type RunDevice = { deviceNo: number } & LaunchedDevice
export type RunDevices = DeviceList<RunDevice>

/** `namedBy`: the last call that named the device, as counted by `findDevices`. */
export type NamedDevice = { namedBy: number }

type RunContent = Pick<
  StoredJobContent,
  | 'expireAfterSeconds'
  | 'deadlineSeconds'
  | 'rollout'
  | 'approval'
  | 'window'
  | 'priority'
  | 'parameters'
  | 'hasPlaceholders'
>

/** Leaves out what most jobs lack, so that most objects have the same shape. */
export function toRunJob(
  { jobNo, versionNo }: { jobNo: number; versionNo: number },
  { rollout, approval, window, priority, parameters, hasPlaceholders, ...clocks }: RunContent,
): RunJob {
  const { expireAfterSeconds, deadlineSeconds } = clocks
  return {
    ...{ jobNo, versionNo, expireAfterSeconds, deadlineSeconds },
    ...(rollout && { rollout }),
    ...(approval && { approval }),
    ...(window && { window }),
    ...(priority !== undefined && { priority }),
    ...((parameters || hasPlaceholders) && { needsValues: true }),
  }
}

/** A run as it is written when it is created. */
export type NewRun = {
  runId: number
  ownerNo: number
  jobNo: number
  jobVersion: number
  launchedAt: WallInstant
  firstExecutionId: number
  total: number
  expireAt: SteadyInstant | null
  deadlineAt: SteadyInstant | null
  keyId: string
  retryOf: number | null
  /** Details of its audit entry. */
  audit: string
  /** Undefined: the run is offered at once. */
  rollout?: StoredRollout
  /** The window in which its executions are offered, or `anyTime`; undefined: none. */
  window?: string
  /** Undefined: the default. */
  priority?: number
}

export type Refusal = Extract<
  TriggerOutcome,
  {
    kind:
      | 'key-changed'
      | 'unknown-job'
      | 'unknown-device'
      | 'over-quota'
      | 'device-over-quota'
      | 'needs-plan'
      | 'needs-values'
      | 'unknown-window'
  }
>
export type EarlierCall = { kind: 'made-before'; runId: number } | { kind: 'idempotency-key-reused' }

/** How many devices an error names. */
export const namedDevices = 100

let lastCall = 0

/**
 * One foreign device fails the whole call, so all are looked up before anything is created. A device named twice gets one
 * execution, at its first position: a mark on each device finds it, at a tenth of what a set of their ids costs.
 */
export function findDevices<Device extends NamedDevice>(
  { deviceIds }: Trigger,
  deviceOf: (deviceId: string, at: number) => Device | undefined,
): Device[] | Refusal {
  // A call without devices only looks for an earlier one (findEarlierRun).
  if (deviceIds.length === 0) return { kind: 'unknown-device', deviceIds }
  const devices: Device[] = []
  lastCall = (lastCall + 1) | 0
  for (let at = 0; at < deviceIds.length; at++) {
    const device = deviceOf(deviceIds[at] as string, at)
    if (device === undefined) {
      const unknown = new Set(deviceIds.filter((each, place) => deviceOf(each, place) === undefined))
      return { kind: 'unknown-device', deviceIds: [...unknown].slice(0, namedDevices) }
    }
    if (device.namedBy === lastCall) continue
    device.namedBy = lastCall
    devices.push(device)
  }
  return devices
}

/** `isFull`: whether a device has at least that many unfinished executions. */
export function refuseOverQuota<Device extends { deviceId: string }>(
  { quota }: Trigger,
  devices: Device[],
  isFull: (device: Device, most: number) => boolean,
): Refusal | undefined {
  if (quota === undefined) return undefined
  const { isOver, perDevice } = quota
  if (isOver) return { kind: 'over-quota' }
  const full = perDevice === 0 ? [] : devices.filter((device) => isFull(device, perDevice))
  if (full.length === 0) return undefined
  return { kind: 'device-over-quota', deviceIds: full.slice(0, namedDevices).map(({ deviceId }) => deviceId) }
}

/** The version that the run uses; undefined if the job was deleted, even if a version is pinned. */
export function jobOf({ pinned }: Trigger, current: RunJob | undefined): RunJob | undefined {
  if (current === undefined || pinned === undefined) return current
  return { ...heldAsNow(pinned, current), releasedBy: current.versionNo }
}

/** Refuses a trigger without values or a plan if the job's runs need values or are released in steps. */
export function refuseUnplanned({ plan, values }: Trigger, job: RunJob): Refusal | undefined {
  if (job.needsValues && values === undefined) return { kind: 'needs-values', job }
  return refuseReleased(plan, job)
}

function refuseReleased(
  plan: Trigger['plan'],
  { versionNo, releasedBy = versionNo, rollout, approval }: RunJob,
): Refusal | undefined {
  const isPlanned = plan !== undefined && (plan.jobVersion === null || plan.jobVersion === releasedBy)
  if (isPlanned || (rollout === undefined && !approval && plan === undefined)) return undefined
  const job = { ...(rollout && { rollout }), ...(approval && { approval }) }
  return { kind: 'needs-plan', jobVersion: releasedBy, ...job }
}

type WindowAsked = Pick<Trigger, 'ownerNo' | 'window'>

/** The window that must exist; undefined: none. The job's own window exists: it cannot be deleted while in use. */
export function windowNamed({ window }: WindowAsked): string | undefined {
  return window || undefined
}

export function refuseUnknownWindow(
  trigger: WindowAsked,
  hasWindow: (ownerNo: number, windowName: string) => boolean,
): Refusal | undefined {
  const windowName = windowNamed(trigger)
  if (windowName === undefined || hasWindow(trigger.ownerNo, windowName)) return undefined
  return { kind: 'unknown-window' }
}

const notScheduled: RunSchedule = { scheduleNo: null, scheduleName: null, scheduledFor: null }

type Once = {
  rollbackOnce: number | null
  planId: string | null
  plannedBy: string | null
  replaces: number | null
}
type WrittenRequest = Omit<RunRequest, keyof Once> &
  RunSchedule &
  Once & { runId: number; window: string | null; priority: number | null }

/** The row of `run_request` for a run; undefined: it needs none. */
export function requestOf(
  { request }: Pick<Trigger, 'request'>,
  { runId, window, priority }: Pick<NewRun, 'runId' | 'window' | 'priority'>,
): WrittenRequest | undefined {
  if (request === undefined && window === undefined && priority === undefined) return undefined
  const none = {
    where: null,
    matched: null,
    note: null,
    rollbackOf: null,
    rollbackOnce: null,
    planId: null,
    plannedBy: null,
    replaces: null,
    ...notScheduled,
  }
  return { ...none, ...request, runId, window: window ?? null, priority: priority ?? null }
}

/** For a run whose executions have deadlines of their own, counted from their release: never due. */
export const deadlineByRelease = steadyInstant(Number.MAX_SAFE_INTEGER)

export function newRun(
  trigger: Trigger,
  { jobNo, versionNo, expireAfterSeconds, deadlineSeconds, ...job }: RunJob,
  ids: { runId: number; firstExecutionId: number },
  total: number,
): NewRun {
  const { ownerNo, launchedAt, clock, keyId, retryOf, plan, hands = [] } = trigger
  const window = trigger.window === undefined ? job.window : trigger.window
  const after = (seconds: number | null) => (seconds === null ? null : laterBy(seconds * 1000, clock))
  const priority = trigger.priority ?? job.priority ?? defaultPriority
  const isUsual = priority === defaultPriority
  const isUnder = typeof window === 'string'
  const under =
    isUnder || !isUsual ? { ...(isUnder && { window }), ...(!isUsual && { priority }) } : undefined
  const audit = runDetails(trigger.jobName, total, trigger.origin, trigger.request?.note ?? undefined)
  const run = {
    ...{ ...ids, ownerNo, jobNo, jobVersion: versionNo, total, launchedAt, keyId, retryOf, audit },
    ...under,
  }
  if (plan === undefined) {
    return { ...run, expireAt: after(expireAfterSeconds), deadlineAt: after(deadlineSeconds) }
  }
  const { rollout, sizes, startAt = null } = plan
  // A call may ask for more approvals than its job, not for fewer, except for a rollback to the previous version.
  const approval = plan.isExempt ? plan.approval : approvalUnder(job, plan)
  const waits = startAt !== null ? 'SCHEDULED' : approval ? 'AWAITING_APPROVAL' : undefined
  const begun = waits ? waitFor(waits, sizes.length) : beginRollout(sizes.length, clock)
  const status = withHands(begun, hands)
  return {
    ...run,
    expireAt: null,
    deadlineAt: deadlineSeconds === null ? null : deadlineByRelease,
    rollout: {
      ...{ ...ids, ownerNo, total, version: 1, nextAt: waits ? null : clock, status, startAt },
      plan: { rollout, approval, sizes, expireAfterSeconds, deadlineSeconds },
    },
  }
}

export function toLaunchedRun(
  { runId, launchedAt, firstExecutionId, jobVersion, rollout, window, priority }: NewRun,
  { jobName }: Trigger,
  devices: LaunchedRun['devices'],
): LaunchedRun {
  const run: LaunchedRun = { runId, jobName, launchedAt, firstExecutionId, jobVersion, devices }
  if (rollout) run.isHeld = true
  if (window) run.isWindowed = true
  if (priority !== undefined) run.priority = priority
  return run
}

/** An idempotency key identifies one request: the same request gets the same answer, another one is refused. */
export function judgeKey(stored: { requestHash: Uint8Array; runId: number }, asked: Uint8Array): EarlierCall {
  const isSame = Buffer.compare(stored.requestHash, asked) === 0
  return isSame ? { kind: 'made-before', runId: stored.runId } : { kind: 'idempotency-key-reused' }
}
