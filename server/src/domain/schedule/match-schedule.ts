// Schedules with `match` give every device their job as soon as it matches, once or again (give-again.ts). Which devices
// have it is stored in the database; which changes a node has checked is in its memory, and read again from the event log
// after a crash.

import { hash } from 'node:crypto'
import { ApiError } from '@jobcast/contract'
import {
  attributeNamesOf,
  attributeOf,
  attributeReader,
  type CompiledSelector,
  compileSelector,
  type Selector,
  termsOf,
} from '@jobcast/contract/selector'
import { requireVersion } from '../job/job-versions.ts'
import { launchedAtOnce, maxSelected, selectDevices } from '../selector/select-devices.ts'
import { listWithout, neededAttributes } from '../trigger/required-attributes.ts'
import { type GiveRule, giveRuleOf, isFree, settleAll, supersedeGiven } from './give-again.ts'
import {
  type ChosenDevices,
  callerOf,
  type Launched,
  type LaunchScheduleDeps,
  launchSchedule,
  scheduleSelector,
} from './launch-schedule.ts'
import type { DeviceChanged, StartedOccurrence, StoredSchedule } from './ports/schedules.ts'

export type Match = {
  selector: Selector
  matches: CompiledSelector
  /** Names of attributes that the selector depends on. */
  names: ReadonlySet<string>
  /** Attributes that the document needs: a device that lacks one does not match yet. */
  needed: string[]
  /** When devices get the job again; undefined: never. */
  rule: GiveRule | undefined
  /** Changes when the meaning of the match changes. */
  digest: string
  /** How many terms are compared for each device. */
  size: number
}

const devicesAtOnce = 2000
const changesAtOnce = 5000

async function readMatch(deps: LaunchScheduleDeps, schedule: StoredSchedule): Promise<Match> {
  const { needed, versionNo } = await readJobOf(deps, schedule)
  return buildMatch(await scheduleSelector(deps, schedule), needed, giveRuleOf(schedule, versionNo))
}

export function buildMatch(selector: Selector, needed: string[], rule: GiveRule | undefined): Match {
  const meaning = rule ? [selector, needed, rule] : [selector, needed]
  const digest = hash('sha256', JSON.stringify(meaning), 'base64url')
  const terms = termsOf(selector)
  const online = terms.some(({ kind }) => kind === 'online') ? ['online'] : []
  const isSelected = compileSelector(selector)
  const readers = needed.map(attributeReader)
  const named = attributeNamesOf(selector).map((name) => attributeOf(name).name)
  return {
    ...{ selector, digest, needed, rule, size: terms.length + needed.length },
    matches: (device) => readers.every((read) => read(device) !== undefined) && isSelected(device),
    names: new Set([...named, ...online, ...needed]),
  }
}

export type JobOfMatch = {
  /** Names of attributes, in order. */
  needed: string[]
  /** The version that its runs use; undefined: the job was deleted. */
  versionNo: number | undefined
}

export async function readJobOf(deps: LaunchScheduleDeps, schedule: StoredSchedule): Promise<JobOfMatch> {
  const { jobName, content } = schedule
  try {
    const job = await requireVersion(deps, callerOf(schedule), jobName, content.version ?? undefined)
    return { needed: neededAttributes(job).toSorted(), versionNo: job.versionNo }
  } catch (error) {
    // A schedule without its job is paused when it fires, at the latest.
    if (error instanceof ApiError) return { needed: [], versionNo: undefined }
    throw error
  }
}

export function concerns({ names }: Match, change: DeviceChanged): boolean {
  return change.names === undefined || change.names.some((name) => names.has(name))
}

/** All matching devices that have not been given the job, or get it again now. */
export async function sweep(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  match: Match,
): Promise<Set<number>> {
  const { selector, needed, rule } = match
  const { deviceNos } = await selectDevices(deps, callerOf(schedule), selector)
  const withoutValues = await listWithout(deps.store, schedule.ownerNo, needed, deviceNos)
  const ready = Array.from(deviceNos).filter((deviceNo) => !withoutValues.has(deviceNo))
  if (rule) await settleAll(deps, schedule, rule, new Set(ready))
  return withoutGiven(deps, schedule, match, ready)
}

export async function withoutGiven(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  { rule }: Match,
  deviceNos: number[],
): Promise<Set<number>> {
  const { scheduleNo } = schedule
  const left = new Set(deviceNos)
  for (let start = 0; start < deviceNos.length; start += launchedAtOnce) {
    const some = { scheduleNo, deviceNos: deviceNos.slice(start, start + launchedAtOnce) }
    if (rule === undefined) {
      for (const deviceNo of await deps.store.listGivenDevices(some)) left.delete(deviceNo)
      continue
    }
    const { clock } = deps.moment()
    for (const given of await deps.store.listGiven(some)) {
      if (!isFree(schedule, rule, given, clock)) left.delete(given.deviceNo)
    }
  }
  return left
}

/** Continues an occurrence that was started but not finished: searches for the devices again. */
export async function resumeMatch(
  deps: LaunchScheduleDeps,
  before: StoredSchedule,
  occurrence: StartedOccurrence,
): Promise<Launched> {
  const match = await readMatch(deps, before)
  const left = await sweep(deps, before, match)
  return launchMatch(deps, before, occurrence, match, await chooseFrom(deps, before, match, [...left]))
}

export async function launchMatch(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  occurrence: StartedOccurrence,
  { rule }: Match,
  chosen: ChosenDevices,
): Promise<Launched> {
  if (schedule.content.overlap === 'REPLACE' && rule?.again === 'ON_NEW_VERSION')
    await supersedeGiven(deps, schedule, rule, [...chosen.deviceNos])
  const launched = await launchSchedule(deps, schedule, occurrence.for, { chosen })
  if (launched.runId !== null) await recordGiven(deps, schedule.scheduleNo, launched.runId)
  return launched
}

/** Recorded before the schedule is marked as fired, so that no device gets the job twice. */
async function recordGiven({ store }: LaunchScheduleDeps, scheduleNo: number, runId: number): Promise<void> {
  const range = await store.getRunRange({ runId })
  if (range === undefined) return
  for (let first = range.first; first <= range.last; first += changesAtOnce) {
    const last = Math.min(range.last, first + changesAtOnce - 1)
    await store.recordGiven({ scheduleNo, first, last })
  }
}

/** The devices that still exist and match, in the order of their numbers. */
export async function chooseFrom(
  { store }: LaunchScheduleDeps,
  { ownerNo }: StoredSchedule,
  { matches }: Match,
  deviceNos: number[],
): Promise<ChosenDevices> {
  const found: { deviceNo: number; deviceId: string }[] = []
  for (let start = 0; start < deviceNos.length; start += devicesAtOnce) {
    const some = deviceNos.slice(start, start + devicesAtOnce)
    for (const device of await store.listSelectable({ ownerNo, deviceNos: some })) {
      if (matches(device) && found.length < maxSelected) found.push(device)
    }
  }
  return {
    deviceNos: Int32Array.from(found, ({ deviceNo }) => deviceNo),
    deviceIds: found.length > launchedAtOnce ? undefined : found.map(({ deviceId }) => deviceId),
  }
}
