// Plans a run: what it would do if it were created now. The plan is stored, so that it can be started as shown.

import { ApiError, type NewRun, type RunPlan } from '@jobcast/contract'
import type { ParameterValues } from '@jobcast/contract/parameters'
import type { Selector } from '@jobcast/contract/selector'
import type { Caller } from '../access/caller.ts'
import { withinReach } from '../access/device-reach.ts'
import { principalOf } from '../access/principal.ts'
import { isConfinedToDevices, mayUseJob } from '../access/restriction.ts'
import { notFound } from '../common/not-found.ts'
import { settled } from '../device/device.ts'
import { requireVersions } from '../job/job-versions.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import type { PlanDeps } from '../rollout/plan-rollout.ts'
import { findGateProblems, requireSelectors } from '../rollout/rollout-selectors.ts'
import { arrangeDevices, showWaves, wholeRelease } from '../rollout/run-release.ts'
import {
  launchedAtOnce,
  readTargets,
  type SelectDeps,
  type Selected,
  sampleSize,
  selectDevices,
  whereOf,
} from '../selector/select-devices.ts'
import { anyTime } from '../window/any-time.ts'
import { windowForRun } from '../window/run-window.ts'
import { digestOfDevices, digestOfWindow, keptPlans, newPlanId, totalOf } from './bind-plan.ts'
import { namedDevices } from './launch-run.ts'
import { type PlanDocumentDeps, planDocument } from './plan-document.ts'
import { findFirstWaveProblems } from './plan-first-wave.ts'
import { findHolds } from './plan-holds.ts'
import { findExpiryProblems, findStopProblems } from './plan-problems.ts'
import type { BoundTo } from './ports/plans.ts'
import { sealValues } from './run-values.ts'

type PlanRunDeps = SelectDeps & PlanDeps & PlanDocumentDeps & { now: () => number }

/** Refuses what creating the run would refuse, except for problems that the plan reports. */
export async function planRun(deps: PlanRunDeps, caller: Caller, request: NewRun): Promise<RunPlan> {
  const { jobName, targets, version, rollout } = request
  if (!mayUseJob(caller, jobName)) throw notFound('J-301', jobName)
  const { job, currentNo } = await requireVersions(deps, caller, jobName, version)
  const { window: asked } = await windowForRun(deps, caller, job, request)
  const windowName = asked === undefined ? job.window : asked
  const window = windowName ? await deps.store.getWindow({ ownerNo: caller.ownerNo, windowName }) : undefined
  const where = whereOf(targets)
  const found =
    where === undefined
      ? await planList(deps, caller, targets.deviceIds ?? [])
      : await planSelection(deps, caller, await readTargets(deps, caller, where))
  if (rollout) await requireSelectors(deps, caller, rollout)
  const { document, problems, left } = await planDocument(deps, caller, job, request, found)
  const release = wholeRelease(deps, job, request)
  const planId = newPlanId()
  const arranged = await arrangeDevices(deps, caller, release, left, planId)
  const { holds, windowWaitMs } = await findHolds(deps, caller, {
    release,
    window,
    ignoresWindows: asked === anyTime,
    deviceIds: left.deviceIds,
  })
  const { total, online, busy, unknownNames } = found
  const plan: RunPlan = {
    ...{ planId, total, online, offline: total - online, busy },
    waves: await showWaves(deps, caller, arranged),
    document,
    holds,
    problems: [
      ...unknownNames.map((name) => `No device has an attribute ${name}.`),
      ...(total === 0 ? ['The selector matches no device.'] : []),
      ...problems,
      ...(await findGateProblems(deps, caller, rollout ?? job.rollout ?? {})),
      ...findStopProblems(release?.rollout ?? {}, arranged.sizes),
      ...(online < total ? await findFirstWaveProblems(deps, caller, release?.rollout ?? {}, arranged) : []),
      ...findExpiryProblems(job, windowWaitMs),
    ],
  }
  await keepPlan(deps, caller, job, request, planId, {
    ...{ currentNo, versionNo: job.versionNo, window: digestOfWindow(window) },
    ...{ total: totalOf(arranged.sizes), devices: digestOfDevices(arranged) },
  })
  return plan
}

async function keepPlan(
  { store, secretBox, moment }: PlanRunDeps,
  caller: Caller,
  { parameters: schema }: StoredJobVersion,
  { parameters, ...request }: NewRun,
  planId: string,
  boundTo: BoundTo,
): Promise<void> {
  const { ownerNo } = caller
  await store.keepPlan({
    ...{ ownerNo, planId, plannedBy: principalOf(caller), createdAt: moment().clock, request, boundTo },
    // Validated when the document was planned.
    values: parameters ? sealValues(secretBox, ownerNo, schema, parameters as ParameterValues) : null,
    ...keptPlans,
  })
}

type Found = Pick<Selected, 'total' | 'sample' | 'deviceIds'> & {
  deviceNos?: Int32Array
  online: number
  busy: number
  unknownNames: string[]
}

async function planSelection(deps: SelectDeps, caller: Caller, where: Selector): Promise<Found> {
  const { total, sample, deviceIds, deviceNos } = await selectDevices(deps, caller, where)
  const { online, busy, unknownNames } = await deps.store.countDevices({ ownerNo: caller.ownerNo, where })
  const found = { total, sample, deviceIds, deviceNos, online: Math.min(online, total), busy }
  // Names are unknown if no device of the owner has them, which a confined caller must not learn.
  return { ...found, unknownNames: isConfinedToDevices(caller) ? [] : unknownNames }
}

async function planList(deps: SelectDeps, caller: Caller, deviceIds: string[]): Promise<Found> {
  await settled(deps.presence)
  const distinct = [...new Set(deviceIds)]
  const found = { online: 0, busy: 0, total: 0 }
  for (let start = 0; start < distinct.length; start += launchedAtOnce) {
    const values = distinct.slice(start, start + launchedAtOnce)
    const where = withinReach(caller, { kind: 'in', name: 'deviceId', values })
    const { total, online, busy } = await deps.store.countDevices({ ownerNo: caller.ownerNo, where })
    if (total < values.length) throw await unknownDevices(deps, caller, values, where)
    found.total += total
    found.online += online
    found.busy += busy
  }
  return { ...found, sample: distinct.slice(0, sampleSize), deviceIds: distinct, unknownNames: [] }
}

/** The error that a trigger gives for unknown devices. */
async function unknownDevices(
  deps: SelectDeps,
  caller: Caller,
  values: string[],
  where: Selector,
): Promise<ApiError> {
  const { deviceIds: found = [] } = await selectDevices(deps, caller, where)
  const unknown = new Set(values).difference(new Set(found))
  return new ApiError('J-001', { deviceIds: [...unknown].slice(0, namedDevices) })
}
