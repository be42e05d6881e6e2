// Creates the run of a schedule for one occurrence. However often that is tried, and by whichever node, there is one run,
// because its idempotency key is that of the occurrence.

import { ApiError } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import { actorOf, type Caller } from '../access/caller.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import { requireVersion } from '../job/job-versions.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import type { RequestedPlan } from '../rollout/plan-rollout.ts'
import { readTargets, selectDevices, whereOf } from '../selector/select-devices.ts'
import type { LargeRunDeps } from '../trigger/launch-large-run.ts'
import { launchOnDevices } from '../trigger/launch-on-devices.ts'
import { busyIn, replaceAfterLaunch, supersede } from '../trigger/replace-waiting.ts'
import { devicesWithAttributes } from '../trigger/required-attributes.ts'
import { valuesForRun } from '../trigger/run-values.ts'
import type { BusyDevice, StoredSchedule } from './ports/schedules.ts'

export type LaunchScheduleDeps = LargeRunDeps

export type Launched = { runId: number | null; matched: number; skipped: number }
/** In the same order; without ids if there are too many. */
export type ChosenDevices = { deviceNos: Int32Array; deviceIds: string[] | undefined }

/** The selector of its targets, with groups replaced. Throws J-503 and J-309. */
export function scheduleSelector(
  deps: LaunchScheduleDeps,
  { ownerNo, content: { targets } }: StoredSchedule,
): Promise<Selector> | Selector {
  const where = whereOf(targets)
  if (where !== undefined) return readTargets(deps, { ownerNo } as Caller, where)
  // Devices that were deleted meanwhile are left out.
  return { kind: 'in', name: 'deviceId', values: targets.deviceIds ?? [] }
}

/** `chosen`: the devices, if not all that match now. `isNew`: the occurrence has no run yet. */
export async function launchSchedule(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  scheduledFor: number,
  { chosen, isNew = false }: { chosen?: ChosenDevices; isNew?: boolean } = {},
): Promise<Launched> {
  const { scheduleNo } = schedule
  const made = isNew ? undefined : await deps.store.findScheduledRun({ scheduleNo, scheduledFor })
  if (made !== undefined) return madeBefore(deps, schedule, made)
  const caller = callerOf(schedule)
  const found = chosen ?? (await findTargets(deps, schedule))
  const matched = found.deviceNos.length
  const free = chosen ?? (await withoutOverlap(deps, schedule, scheduledFor, found))
  const skipped = matched - free.deviceNos.length
  if (free.deviceNos.length === 0) return { runId: null, matched, skipped }
  try {
    const runId = await launch(deps, schedule, caller, { ...free, scheduledFor, matched })
    return { runId, matched, skipped }
  } catch (error) {
    // All remaining devices lack an attribute.
    if (error instanceof ApiError && error.code === 'J-504') return { runId: null, matched, skipped: matched }
    throw error
  }
}

/** Lists of ids are not read by a selector: PostgreSQL plans that statement each time, which took half of the time of an occurrence. */
async function findTargets(deps: LaunchScheduleDeps, schedule: StoredSchedule): Promise<ChosenDevices> {
  const { ownerNo, content } = schedule
  const { deviceIds } = content.targets
  if (deviceIds === undefined)
    return selectDevices(deps, callerOf(schedule), await scheduleSelector(deps, schedule))
  const named = await deps.store.listNamedDevices({ ownerNo, deviceIds })
  return {
    deviceNos: Int32Array.from(named, ({ deviceNo }) => deviceNo),
    deviceIds: named.map(({ deviceId }) => deviceId),
  }
}

async function madeBefore(
  { store }: LaunchScheduleDeps,
  { ownerNo }: StoredSchedule,
  runId: number,
): Promise<Launched> {
  const run = await store.getRun({ ownerNo, runId })
  const matched = run?.matched ?? run?.total ?? 0
  return { runId, matched, skipped: Math.max(0, matched - (run?.total ?? 0)) }
}

/** Runs are created in the name of the key that put the schedule. */
export function callerOf({ ownerNo, keyId }: StoredSchedule): Caller {
  return { ownerNo, keyId, ownerId: '', scopes: [] }
}

type Wanted = ChosenDevices & { scheduledFor: number; matched: number }

async function launch(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  caller: Caller,
  { scheduledFor, matched, ...found }: Wanted,
): Promise<number> {
  const { scheduleNo, scheduleName, jobName, content } = schedule
  const where = whereOf(content.targets) ?? null
  const request = { where, matched, note: null, rollbackOf: null, scheduleNo, scheduleName, scheduledFor }
  const replaces = content.replaces ? { replaces: 1 as const } : {}
  // Cannot collide with idempotency keys of callers, which contain no space.
  const key = `schedule ${scheduleNo} ${scheduledFor}`
  const asked = ['schedule', scheduleNo, scheduledFor]
  const { parameters, window, priority } = content
  const version = content.version ?? undefined
  const job = await requireVersion(deps, caller, jobName, version)
  const values = await valuesForRun(deps, caller, job, {
    ...(version !== undefined && { version }),
    ...(parameters && { parameters }),
  })
  const release = releaseOf(schedule, job)
  const hands = await handsIn(deps, schedule)
  const terms = {
    ...{ ...values, hands },
    ...(window !== undefined && { window }),
    ...(priority !== undefined && { priority }),
    ...(release && { release }),
  }
  // Skips devices that lack an attribute that the document needs.
  const devices = await devicesWithAttributes(deps, caller, job, found, 'SKIP')
  const { runId } = await launchOnDevices(
    deps,
    caller,
    { jobName, asked, request: { ...request, ...replaces }, ...terms },
    devices,
    {
      idempotencyKey: key,
    },
  )
  if (content.replaces) {
    const { ownerNo, keyId } = caller
    await replaceAfterLaunch(deps, { ownerNo, runId, keyId }, devices.deviceNos.length)
  }
  return runId
}

/** Lineages of those who put the schedule or fired it by hand: they are involved in the run, besides the key that creates it. */
async function handsIn(
  { store }: LaunchScheduleDeps,
  { keyId, occurrence, content: { putBy = keyId } }: StoredSchedule,
): Promise<string[]> {
  const maker = principalOf({ keyId })
  const others = [principalOf({ keyId: putBy }), occurrence?.principal ?? maker]
  const hands = others.filter((principal) => principal !== maker)
  return Promise.all(hands.map((principal) => lineageOf(store, principal)))
}

/** How its runs are released; undefined: as the job defines. The rollout must fit any devices. */
function releaseOf(
  { content: { rollout, approval } }: StoredSchedule,
  job: StoredJobVersion,
): RequestedPlan | undefined {
  if (rollout === null && !approval) return undefined
  return { rollout: rollout ?? job.rollout ?? {}, approval, fitsAny: true }
}

/** Applies `overlap` to each device that still has an unfinished execution of this schedule. */
async function withoutOverlap(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  scheduledFor: number,
  { deviceNos, deviceIds }: ChosenDevices,
): Promise<ChosenDevices> {
  const { overlap } = schedule.content
  if (overlap === 'QUEUE' || deviceNos.length === 0) return { deviceNos, deviceIds }
  const busy = await listBusy(deps, schedule, scheduledFor)
  if (overlap === 'REPLACE') {
    await supersede(deps, actorOf(callerOf(schedule)), busy, new Set(deviceNos))
    return { deviceNos, deviceIds }
  }
  const skipped = new Set(busy.map(({ deviceNo }) => deviceNo))
  const isFree = (deviceNo: number) => !skipped.has(deviceNo)
  const free = deviceNos.filter(isFree)
  return { deviceNos: free, deviceIds: deviceIds?.filter((_, index) => isFree(deviceNos[index] ?? 0)) }
}

/** Executions of other occurrences: another node may have created the run of this one meanwhile. */
async function listBusy(
  { store }: LaunchScheduleDeps,
  { ownerNo, scheduleNo }: StoredSchedule,
  scheduledFor: number,
): Promise<BusyDevice[]> {
  const busy: BusyDevice[] = []
  const runs = await store.listBusyRuns({ ownerNo, scheduleNo })
  // Read after the list, so that the run is found if the list has it.
  const own = runs.length === 0 ? undefined : await store.findScheduledRun({ scheduleNo, scheduledFor })
  for (const range of runs) {
    if (range.runId === own) continue
    for await (const each of busyIn(store, range)) busy.push(each)
  }
  return busy
}
