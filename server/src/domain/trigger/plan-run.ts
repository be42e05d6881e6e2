// The plan of a run: what it would do if it were created now.

import { ApiError, type NewRun, type RunPlan } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import type { Caller } from '../access/caller.ts'
import { requireVersion } from '../job/job-versions.ts'
import type { PlanDeps } from '../rollout/plan-rollout.ts'
import { findGateProblems } from '../rollout/rollout-selectors.ts'
import { previewWaves } from '../rollout/run-release.ts'
import {
  digestOfList,
  launchedAtOnce,
  readTargets,
  type SelectDeps,
  type Selected,
  sampleSize,
  selectDevices,
  whereOf,
} from '../selector/select-devices.ts'
import { windowForRun } from '../window/run-window.ts'
import { type PlanDocumentDeps, planDocument } from './plan-document.ts'
import { newPlanId } from './plan-id.ts'

type PlanRunDeps = SelectDeps & PlanDeps & PlanDocumentDeps & { now: () => number }

/** Refused as the run itself would be, but for what the plan can tell. */
export async function planRun(deps: PlanRunDeps, caller: Caller, request: NewRun): Promise<RunPlan> {
  const { jobName, targets, version } = request
  const job = await requireVersion(deps, caller, jobName, version)
  await windowForRun(deps, caller, job, request)
  const where = whereOf(targets)
  const found =
    where === undefined
      ? await planList(deps, caller, targets.deviceIds ?? [])
      : await planSelection(deps, caller, await readTargets(deps, caller, where))
  const { total, online, busy, digest, unknownNames } = found
  const problems = unknownNames.map((name) => `No device has an attribute ${name}.`)
  if (total === 0) problems.push('The selector matches no device.')
  const { document, problems: more } = await planDocument(deps, caller, job, request, found)
  problems.push(...more, ...(await findGateProblems(deps, caller, request.rollout ?? job.rollout ?? {})))
  return {
    planId: newPlanId(deps.now(), job, digest),
    total,
    online,
    offline: total - online,
    busy,
    waves: total === 0 ? [] : await previewWaves(deps, caller, job, request, found),
    document,
    problems,
  }
}

type Found = Pick<Selected, 'total' | 'sample' | 'digest' | 'deviceIds'> & {
  deviceNos?: Int32Array
  online: number
  busy: number
  unknownNames: string[]
}

async function planSelection(deps: SelectDeps, caller: Caller, where: Selector): Promise<Found> {
  const { total, sample, digest, deviceIds, deviceNos } = await selectDevices(deps, caller, where)
  const { online, busy, unknownNames } = await deps.store.countDevices({ ownerNo: caller.ownerNo, where })
  return { total, sample, digest, deviceIds, deviceNos, online: Math.min(online, total), busy, unknownNames }
}

async function planList({ store }: SelectDeps, { ownerNo }: Caller, deviceIds: string[]): Promise<Found> {
  const distinct = [...new Set(deviceIds)]
  const found = { online: 0, busy: 0, total: 0 }
  for (let start = 0; start < distinct.length; start += launchedAtOnce) {
    const values = distinct.slice(start, start + launchedAtOnce)
    const where: Selector = { kind: 'in', name: 'deviceId', values }
    const { total, online, busy } = await store.countDevices({ ownerNo, where })
    if (total < values.length) throw new ApiError('J-001')
    found.total += total
    found.online += online
    found.busy += busy
  }
  return {
    ...found,
    sample: distinct.slice(0, sampleSize),
    deviceIds: distinct,
    digest: digestOfList(deviceIds),
    unknownNames: [],
  }
}
