// Starts a plan: creates the run as shown, once. Starting it again returns the same run.

import { ApiError, type NewRun } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import { isConfined, isConfinedToDevices, mayUseJob } from '../access/restriction.ts'
import { requireVersions } from '../job/job-versions.ts'
import { arrangeDevices, wholeRelease } from '../rollout/run-release.ts'
import { devicesForRun } from '../selector/select-devices.ts'
import {
  asPlanError,
  digestOfDevices,
  digestOfWindow,
  requestOfPlan,
  requireAlone,
  requireBound,
  requireSame,
  requireStartAhead,
  requireYoung,
  totalOf,
  unknownPlan,
} from './bind-plan.ts'
import { type CreateRunDeps, termsForRun } from './create-run.ts'
import { holdIfRevoked } from './hold-run.ts'
import { type CallDetails, type Made, readMade } from './launch-again.ts'
import { launchArranged } from './launch-on-devices.ts'
import { toRunJob } from './launch-run.ts'
import type { StoredPlan } from './ports/plans.ts'
import { replaceAfterLaunch } from './replace-waiting.ts'
import { devicesWithAttributes } from './required-attributes.ts'
import { runInReach } from './run-in-reach.ts'
import { findEarlierRun } from './trigger-job.ts'

export async function startPlan(
  deps: CreateRunDeps,
  caller: Caller,
  planId: string,
  beside: Partial<NewRun>,
  call: CallDetails,
): Promise<Made> {
  const { ownerNo } = caller
  if (isConfined(caller) && !(await isInReach(deps, caller, planId))) throw unknownPlan()
  const asked = ['plan', planId]
  const earlier = await findEarlierRun(deps, caller, asked, call.idempotencyKey)
  if (earlier) return readMade(deps, ownerNo, earlier)
  return onceAtATime(deps, ownerNo, planId, async () => {
    const plan = await deps.store.getPlan({ ownerNo, planId })
    const request = plan && requestOfPlan(deps, ownerNo, plan)
    if (request) requireSame(request, beside)
    const started = await findStarted(deps, ownerNo, planId)
    if (started) {
      if (plan === undefined) requireAlone(beside, started.run.runId)
      return started
    }
    if (plan === undefined || request === undefined) throw unknownPlan()
    requireYoung(plan, deps.moment().clock)
    requireStartAhead(request, deps.now())
    try {
      const { runId } = await launch(deps, caller, plan, request, { asked, ...call })
      await holdIfRevoked(deps, caller, request, runId)
      const made = await readMade(deps, ownerNo, { runId })
      if (request.replaces) {
        await replaceAfterLaunch(deps, { ownerNo, runId, keyId: caller.keyId }, made.run.total)
      }
      return made
    } catch (error) {
      // Another node was faster: the store accepts only one run per plan.
      const other = error instanceof ApiError ? undefined : await findStarted(deps, ownerNo, planId)
      if (other) return other
      throw asPlanError(error, plan.boundTo)
    }
  })
}

/**
 * Whether the caller may see the plan's job, also after the plan was started. A plan shows counts of all its devices, so a
 * caller restricted to devices starts only its own plans, and gets only runs without other devices.
 */
async function isInReach(deps: CreateRunDeps, caller: Caller, planId: string): Promise<boolean> {
  const { store } = deps
  const { ownerNo } = caller
  const isToDevices = isConfinedToDevices(caller)
  const runId = await store.findPlannedRun({ ownerNo, planId })
  const run = runId === undefined ? undefined : await store.getRun({ ownerNo, runId })
  if (run !== undefined) {
    const isWhole = !isToDevices || (await runInReach(deps, caller, run))?.isWhole
    return mayUseJob(caller, run.jobName) && isWhole === true
  }
  const plan = await store.getPlan({ ownerNo, planId })
  if (plan === undefined || (isToDevices && plan.plannedBy !== principalOf(caller))) return false
  return mayUseJob(caller, plan.request.jobName)
}

async function findStarted(deps: CreateRunDeps, ownerNo: number, planId: string): Promise<Made | undefined> {
  const runId = await deps.store.findPlannedRun({ ownerNo, planId })
  return runId === undefined ? undefined : readMade(deps, ownerNo, { runId, isReplayed: true })
}

/** Only one start of a plan at a time on this node. */
async function onceAtATime<T>(
  { runningKeys }: CreateRunDeps,
  ownerNo: number,
  planId: string,
  work: () => Promise<T>,
): Promise<T> {
  // Cannot collide with idempotency keys, which contain no space.
  const name = `${ownerNo} plan ${planId}`
  if (runningKeys.has(name)) {
    throw new ApiError('J-502', {
      detail: 'The plan is being started by another request.',
      retryAfterSeconds: 1,
    })
  }
  runningKeys.add(name)
  try {
    return await work()
  } finally {
    runningKeys.delete(name)
  }
}

type Call = CallDetails & { asked: unknown[] }

/** Rebuilds the run as the plan was built, and compares the two. */
async function launch(
  deps: CreateRunDeps,
  caller: Caller,
  { planId, plannedBy, boundTo }: StoredPlan,
  request: NewRun,
  { asked, ...call }: Call,
): Promise<{ runId: number }> {
  const { jobName, targets, version, note = null, onMissing } = request
  const { job, currentNo } = await requireVersions(deps, caller, jobName, version)
  const { release: _, window: named, ...terms } = await termsForRun(deps, caller, job, request)
  const windowName = (named === undefined ? job.window : named) ?? null
  const window = windowName ? await deps.store.getWindow({ ownerNo: caller.ownerNo, windowName }) : undefined
  const { where, matched, ...targeted } = await devicesForRun(deps, caller, targets)
  const devices = await devicesWithAttributes(deps, caller, job, targeted, onMissing)
  const release = wholeRelease(deps, job, request)
  const arranged = await arrangeDevices(deps, caller, release, devices, planId)
  const now = {
    ...{ currentNo, versionNo: job.versionNo, window: digestOfWindow(window) },
    ...{ total: totalOf(arranged.sizes), devices: digestOfDevices(arranged) },
  }
  requireBound(boundTo, now, jobName)
  const replaces = request.replaces ? { replaces: 1 as const } : {}
  const made = { where, matched, note, rollbackOf: null, planId, plannedBy, ...replaces }
  // The planner is involved in the run, like the caller who starts it.
  const hands = plannedBy === principalOf(caller) ? [] : [await lineageOf(deps.store, plannedBy)]
  const bound = { jobVersion: currentNo, release, sizes: arranged.sizes }
  return launchArranged(
    deps,
    caller,
    { jobName, asked, pinned: toRunJob(job, job), ...terms, window: windowName, request: made, hands },
    bound,
    arranged,
    call,
  )
}
