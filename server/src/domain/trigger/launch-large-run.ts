// A run on more devices than one write holds. It is written in batches, so that other writes get their turn in between; it
// becomes visible once all of it is written.

import { hash } from 'node:crypto'
import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import { laterBy } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { NotifyDeps } from '../execution/notify-moved.ts'
import { planLarge, type RequestedPlan } from '../rollout/plan-rollout.ts'
import { announce } from '../rollout/roll-out.ts'
import type { SelectDeps } from '../selector/select-devices.ts'
import type { LaunchedRun } from './launched-run.ts'
import type { RunRequest, RunValues } from './ports/runs.ts'
import type { LargeTrigger, RunJob, TriggerOutcome, TriggerPlan } from './trigger.ts'
import { idempotencyMs, mostPlans, quotaOf, runOf, type TriggerDeps } from './trigger-job.ts'

export type LargeRunDeps = TriggerDeps &
  SelectDeps &
  NotifyDeps & {
    store: Store
    /** Throws while the disk has no room for it. */
    requireDisk: () => void
    /** The part after the response has failed. */
    onLaunchFailed: (error: unknown) => void
  }

type LargeLaunch = {
  jobName: string
  asked: unknown[]
  request?: RunRequest
  deviceNos: Int32Array
  /** Devices are in the order of their release. */
  plan?: TriggerPlan
  /** The job must not have changed how its runs are released. */
  isBound?: true
  /** If there is no plan yet; undefined: as the job defines. */
  requestedPlan?: RequestedPlan
  window?: string | null
  priority?: number
  pinned?: RunJob
  values?: RunValues
  hands?: string[]
}

export async function launchLargeRun(
  deps: LargeRunDeps,
  caller: Caller,
  { asked, requestedPlan, isBound, ...launch }: LargeLaunch,
  idempotencyKey?: string,
): Promise<LaunchedRun> {
  deps.requireDisk()
  const { at: launchedAt, clock } = deps.moment()
  const idempotency =
    idempotencyKey === undefined
      ? null
      : {
          key: idempotencyKey,
          requestHash: hash('sha256', JSON.stringify(asked), 'buffer'),
          madeAt: clock,
          validAfter: laterBy(-idempotencyMs, clock),
        }
  const { ownerNo, keyId } = caller
  const trigger = {
    ...{ ...launch, ...originOf(caller), ownerNo, keyId, launchedAt, clock },
    ...{ retryOf: null, idempotency },
  }
  const running = `${ownerNo} ${idempotencyKey}`
  if (idempotency && deps.runningKeys.has(running)) throw new ApiError('J-502', { retryAfterSeconds: 1 })
  if (idempotency) deps.runningKeys.add(running)
  try {
    const outcome = isBound
      ? await record(deps, trigger)
      : await recordPlanned(deps, caller, trigger, requestedPlan)
    const run = runOf(deps, caller, outcome)
    if (outcome.kind === 'created') void afterwards(deps, caller, run, launch.deviceNos.length)
    return run
  } finally {
    if (idempotency) deps.runningKeys.delete(running)
  }
}

/** Like `recordPlanned` in trigger-job.ts. */
async function recordPlanned(
  deps: LargeRunDeps,
  caller: Caller,
  trigger: LargeTrigger,
  asked: RequestedPlan | undefined,
): Promise<TriggerOutcome> {
  const plan = async (jobVersion: number | null, { rollout, approval, fitsAny, startAt }: RequestedPlan) => {
    const planned = await planLarge(deps, caller, trigger.deviceNos, { rollout, fitsAny })
    const { sizes, deviceNos } = planned
    const begin = startAt === undefined ? {} : { startAt }
    return { ...trigger, deviceNos, plan: { jobVersion, rollout, approval, sizes, ...begin } }
  }
  let planned: LargeTrigger = asked ? await plan(null, asked) : trigger
  for (let plans = 0; ; plans++) {
    const outcome = await record(deps, planned)
    if (outcome.kind !== 'needs-plan' || plans === mostPlans) return outcome
    const { jobVersion, rollout = {}, approval = false } = outcome
    const isHeld = outcome.rollout !== undefined || approval
    planned = isHeld ? await plan(jobVersion, { rollout, approval, fitsAny: true }) : trigger
  }
}

async function record(deps: LargeRunDeps, trigger: LargeTrigger): Promise<TriggerOutcome> {
  const { quotaCounts } = deps
  const { ownerNo, deviceNos } = trigger
  if (!(await quotaCounts.reserve('executions', ownerNo, deviceNos.length))) return { kind: 'over-quota' }
  let created = false
  try {
    const outcome = await deps.store.createLargeRun({ ...trigger, ...quotaOf(deps, ownerNo, false) })
    created = outcome.kind === 'created'
    return outcome
  } finally {
    quotaCounts.settle('executions', ownerNo, deviceNos.length, created)
  }
}

/** Notifies the devices. */
async function afterwards(
  deps: LargeRunDeps,
  { ownerNo }: Caller,
  { runId, isHeld }: LaunchedRun,
  total: number,
): Promise<void> {
  // The rollout notifies devices as it releases them.
  if (isHeld) return
  try {
    await announce(deps, { ownerNo, runId }, 0, total)
  } catch (error) {
    deps.onLaunchFailed(error)
  }
}
