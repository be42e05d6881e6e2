// The trigger: one call, one run, one execution per distinct device, all or nothing.

import { hash } from 'node:crypto'
import { ApiError, type TriggerRequest } from '@jobcast/contract'
import { type Caller, KeyChanged } from '../access/caller.ts'
import type { ReachDeps } from '../access/device-reach.ts'
import { overQuota } from '../access/quotas.ts'
import { requireJob } from '../access/restriction.ts'
import type { QuotaDeps } from '../access/within-quota.ts'
import { originOf } from '../audit/audit.ts'
import { laterBy } from '../common/instants.ts'
import type { DeviceLink } from '../device/ports/device-link.ts'
import type { RunTraces } from '../event/ports/traces.ts'
import type { Moment } from '../execution/execution.ts'
import type { Documents } from '../execution/ports/documents.ts'
import { type PlanDeps, planRollout } from '../rollout/plan-rollout.ts'
import type { LaunchedRun } from './launched-run.ts'
import type { RunKey, RunRequest, RunValues } from './ports/runs.ts'
import { requireDevices } from './require-devices.ts'
import { requireAttributes } from './required-attributes.ts'
import { type GivenValues, requireValues, sealValues, type ValuesDeps } from './run-values.ts'
import type { RunJob, Trigger, TriggerOutcome, TriggerPlan, TriggerQuota } from './trigger.ts'

export type TriggerDeps = QuotaDeps &
  PlanDeps &
  ValuesDeps &
  ReachDeps & {
    documents: Pick<Documents, 'content'>
    /** Starts the rollout of a new run. */
    rollouts: { judgeSoon(run: RunKey): void }
    /** Resolves once the trigger is on disk. */
    recordTrigger: (trigger: Trigger) => Promise<TriggerOutcome>
    moment: () => Moment
    link: Pick<DeviceLink, 'launched'>
    /** Idempotency keys whose first call has not been answered yet, as `ownerNo key`. */
    runningKeys: Set<string>
    traces?: RunTraces
  }

export const idempotencyMs = 24 * 60 * 60 * 1000

export function triggerJob(
  deps: TriggerDeps,
  caller: Caller,
  { jobName, deviceIds }: TriggerRequest,
  idempotencyKey?: string,
  traceParent?: string,
): Promise<LaunchedRun> {
  const isRestricted = caller.restriction !== undefined
  if (isRestricted) requireJob(caller, jobName)
  // The meaning of the request, not its text: whitespace and ignored fields do not matter.
  const asked = [jobName, deviceIds]
  const launch = { jobName, deviceIds, retryOf: null, asked }
  const begin = () => launchRun(deps, caller, launch, idempotencyKey, traceParent)
  return isRestricted ? requireDevices(deps, caller, deviceIds).then(begin) : begin()
}

/** `asked`: must be equal for calls with the same idempotency key. */
export type Launch = {
  jobName: string
  deviceIds: string[]
  retryOf: number | null
  asked: unknown[]
  /** Devices are in the order of their release; undefined: as the job defines. */
  plan?: TriggerPlan
  /** The plan is final: if the job defines another release by now, the launch fails instead of being planned again. */
  isBound?: true
  request?: RunRequest
  /** Null: at any time, undefined: as the job defines. */
  window?: string | null | undefined
  /** Undefined: as the job defines. */
  priority?: number | undefined
  /** The version of the job; undefined: the current one. */
  pinned?: RunJob
  values?: RunValues
  /** Values to validate, if `values` is undefined and the job needs some. */
  given?: GivenValues
  /** Lineages of principals involved besides the caller. */
  hands?: string[]
}

/** The run that an earlier call with this idempotency key created; undefined: none. Creates nothing. */
export async function findEarlierRun(
  deps: TriggerDeps,
  caller: Caller,
  asked: unknown[],
  idempotencyKey: string | undefined,
): Promise<LaunchedRun | undefined> {
  if (idempotencyKey === undefined) return undefined
  const nothing = { jobName: '', deviceIds: [], retryOf: null, asked }
  const outcome = await recordLaunch(deps, caller, nothing, idempotencyKey)
  const isUnknown = outcome.kind === 'unknown-job' || outcome.kind === 'unknown-device'
  return isUnknown ? undefined : runOf(deps, caller, outcome)
}

export async function launchRun(
  deps: TriggerDeps,
  caller: Caller,
  launch: Launch,
  idempotencyKey?: string,
  traceParent?: string,
): Promise<LaunchedRun> {
  const { deviceIds } = launch
  const span = traceParent === undefined ? undefined : deps.traces?.begin(traceParent)
  const outcome = await recordLaunch(deps, caller, launch, idempotencyKey)
  if (span === undefined || outcome.kind !== 'created') {
    return inOrderOf(deviceIds, runOf(deps, caller, outcome))
  }
  // Before devices are notified, so that their first report joins the trace.
  const { runId } = outcome.run
  await deps.traces?.keep({ ownerNo: caller.ownerNo, runId, traceParent: span.traceParent })
  const run = { ...outcome.run, traceParent: span.traceParent }
  span.end(run)
  return inOrderOf(deviceIds, runOf(deps, caller, { kind: 'created', run }))
}

async function recordLaunch(
  deps: TriggerDeps,
  caller: Caller,
  launch: Launch,
  idempotencyKey: string | undefined,
): Promise<TriggerOutcome> {
  const { jobName, deviceIds, retryOf, asked, request, plan, pinned, values, given } = launch
  const { window, priority, hands, isBound } = launch
  const { at: launchedAt, clock } = deps.moment()
  const trigger: Trigger = {
    ownerNo: caller.ownerNo,
    jobName,
    deviceIds,
    launchedAt,
    clock,
    keyId: caller.keyId,
    ...originOf(caller),
    ...(caller.keyAsOf !== undefined && { keyAsOf: caller.keyAsOf }),
    retryOf,
    idempotency: null,
    ...(request && { request }),
    ...(plan && { plan }),
    ...(window !== undefined && { window }),
    ...(priority !== undefined && { priority }),
    ...(pinned && { pinned }),
    ...(values && { values }),
    ...(hands && { hands }),
  }
  if (idempotencyKey === undefined) return record(deps, trigger, given, isBound)

  trigger.idempotency = {
    key: idempotencyKey,
    requestHash: hash('sha256', JSON.stringify(asked), 'buffer'),
    madeAt: clock,
    validAfter: laterBy(-idempotencyMs, clock),
  }
  const running = `${caller.ownerNo} ${idempotencyKey}`
  if (deps.runningKeys.has(running)) throw new ApiError('J-502', { retryAfterSeconds: 1 })
  deps.runningKeys.add(running)
  try {
    return await record(deps, trigger, given, isBound)
  } finally {
    deps.runningKeys.delete(running)
  }
}

/** Also records calls over quota: only the store knows whether they are unknown or repeated. */
async function record(
  deps: TriggerDeps,
  trigger: Trigger,
  given: GivenValues | undefined,
  isBound: true | undefined,
): Promise<TriggerOutcome> {
  const { quotaCounts } = deps
  const { ownerNo, deviceIds } = trigger
  let count = deviceIds.length
  const hasRoom = quotaCounts.reserve('executions', ownerNo, count)
  let isOver = hasRoom !== true && !(await hasRoom)
  if (isOver && distinct(deviceIds).length < count) {
    count = distinct(deviceIds).length
    isOver = !(await quotaCounts.reserve('executions', ownerNo, count))
  }
  let created = false
  try {
    const within = { ...trigger, ...quotaOf(deps, ownerNo, isOver) }
    const outcome = isBound ? await deps.recordTrigger(within) : await recordPlanned(deps, given, within)
    created = outcome.kind === 'created'
    return outcome
  } finally {
    if (!isOver) quotaCounts.settle('executions', ownerNo, count, created)
  }
}

/** How often a job may change its rollout while a run of it is being created. */
export const mostPlans = 5

/** A run of a job with a rollout is planned first; only the store knows whether the job has one. */
async function recordPlanned(
  deps: TriggerDeps,
  given: GivenValues | undefined,
  first: Trigger,
): Promise<TriggerOutcome> {
  let [trigger, planned] = [first, first]
  for (let plans = 0; ; plans++) {
    const outcome = await deps.recordTrigger(planned)
    if (outcome.kind === 'needs-values' && trigger.values === undefined) {
      trigger = planned = await withValues(deps, trigger, outcome.job, given)
      continue
    }
    if (outcome.kind !== 'needs-plan' || plans === mostPlans) return outcome
    const { jobVersion, rollout, approval = false } = outcome
    if (rollout === undefined && !approval) {
      planned = trigger
      continue
    }
    const asked = { rollout: rollout ?? {}, fitsAny: true }
    const { deviceIds, sizes } = await planRollout(deps, trigger.ownerNo, distinct(trigger.deviceIds), asked)
    planned = { ...trigger, deviceIds, plan: { jobVersion, rollout: asked.rollout, approval, sizes } }
  }
}

/** Pins the version that the store found: the run keeps it even if the job changes meanwhile. */
async function withValues(
  deps: TriggerDeps,
  trigger: Trigger,
  job: RunJob,
  { parameters, keptSecret, onMissing }: GivenValues = {},
): Promise<Trigger> {
  const { ownerNo } = trigger
  const { document, schema, template } = await deps.documents.content(job.versionNo)
  const content = {
    ...{ document: JSON.parse(document), ...(schema && { parameters: schema }) },
    ...(template && { hasPlaceholders: true as const }),
  }
  const judged = await requireValues(deps.ownerTurns, ownerNo, content, parameters)
  const values = sealValues(deps.secretBox, ownerNo, schema, judged, keptSecret)
  const deviceIds = await requireAttributes(deps, ownerNo, content, trigger.deviceIds, onMissing)
  return { ...trigger, pinned: job, values, deviceIds }
}

/** While the owner's total is below the limit per device, no device can exceed it, so devices need no check. */
export function quotaOf(
  { quotas, quotaCounts }: QuotaDeps,
  ownerNo: number,
  isOver: boolean,
): { quota?: TriggerQuota } {
  const perDevice = quotas['device-executions']
  const isCounted = quotas.executions > 0
  const mayBeOver = perDevice > 0 && (!isCounted || quotaCounts.used('executions', ownerNo) > perDevice)
  return isOver || mayBeOver ? { quota: { isOver, perDevice: mayBeOver ? perDevice : 0 } } : {}
}

export function runOf(deps: TriggerDeps, { ownerNo }: Caller, outcome: TriggerOutcome): LaunchedRun {
  const { link, quotas } = deps
  switch (outcome.kind) {
    case 'created':
      if (outcome.run.isHeld) deps.rollouts.judgeSoon({ ownerNo, runId: outcome.run.runId })
      else link.launched(ownerNo, outcome.run)
      return outcome.run
    case 'replayed':
      return { ...outcome.run, isReplayed: true }
    case 'unreadable':
      throw outcome.error
    case 'idempotency-key-reused':
      throw new ApiError('J-501')
    case 'key-changed':
      throw new KeyChanged()
    case 'unknown-job':
      throw new ApiError('J-301')
    case 'unknown-device':
      throw new ApiError('J-001', { deviceIds: outcome.deviceIds })
    case 'unknown-window':
      throw new ApiError('J-311', { field: 'window' })
    case 'needs-plan':
    case 'needs-values':
      throw new ApiError('J-502', { detail: 'The job is being changed.', retryAfterSeconds: 1 })
    case 'over-quota':
      throw overQuota('executions', quotas.executions)
    case 'device-over-quota':
      throw overQuota('device-executions', quotas['device-executions'], outcome.deviceIds)
  }
}

/** Ids follow the order of release; the response follows the order of the call. */
function inOrderOf(asked: string[], run: LaunchedRun): LaunchedRun {
  const { devices } = run
  // Runs released at once are in the order of the call already.
  if (!run.isHeld && !run.isReplayed) return run
  const deviceIds = distinct(asked)
  if (deviceIds.length !== devices.length) return run
  if (devices.every(({ deviceId }, index) => deviceId === deviceIds[index])) return run
  const positions = new Map(devices.map(({ deviceId }, index) => [deviceId, index]))
  return { ...run, order: deviceIds.map((deviceId) => positions.get(deviceId) ?? 0) }
}

function distinct(deviceIds: string[]): string[] {
  if (deviceIds.length === 1) return deviceIds
  const once = new Set(deviceIds)
  return once.size === deviceIds.length ? deviceIds : [...once]
}
