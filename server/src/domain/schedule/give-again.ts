// What a schedule with `match` records of the devices that were given its job, and when they get it again: once for each new
// version of the job (ON_NEW_VERSION), or after a back-off for as long as they match (WHILE_MATCHING). Ends of executions
// are read from the event log, like changes of devices. All records are idempotent.

import type { Again } from '@jobcast/contract'
import { defaultBackOffSeconds } from '@jobcast/contract'
import { actorOf } from '../access/caller.ts'
import { laterBy, type SteadyInstant } from '../common/instants.ts'
import { notifyTaken } from '../execution/notify-moved.ts'
import { callerOf, type LaunchScheduleDeps } from './launch-schedule.ts'
import type { GivenDevice } from './ports/given-devices.ts'
import type { ScheduledMove, StoredSchedule } from './ports/schedules.ts'

/** When a device counts as having been given the job. `versionNo`: with ON_NEW_VERSION, the version of `jobName` to give now. */
export type GiveRule = { again?: Again; onLeave?: 'CANCEL'; jobName?: string; versionNo?: number }

const longestBackOffMs = 86_400_000
const givenAtOnce = 2000
const canceledAtOnce = 500

/** Undefined: each device gets the job once, whatever its outcome. */
export function giveRuleOf(schedule: StoredSchedule, versionNo?: number): GiveRule | undefined {
  const { jobName, content } = schedule
  const { when } = content
  if (when.kind !== 'match' || (when.again ?? when.onLeave) === undefined) return undefined
  const { again, onLeave } = when
  const isNewer = again === 'ON_NEW_VERSION' && versionNo !== undefined
  return { ...(again && { again }), ...(onLeave && { onLeave }), ...(isNewer && { jobName, versionNo }) }
}

export function watchesLeavers(rule: GiveRule | undefined): boolean {
  return rule?.again === 'WHILE_MATCHING' || rule?.onLeave !== undefined
}

/** The back-off after an execution; `times`: how many there were in a row. */
export function backOffMs({ content: { when } }: Pick<StoredSchedule, 'content'>, times: number): number {
  const { backOffSeconds = defaultBackOffSeconds } = when.kind === 'match' ? when : {}
  return Math.min(longestBackOffMs, backOffSeconds * 1000 * 2 ** Math.max(0, times - 1))
}

/** Whether a matching device that was given the job before gets it again now. */
export function isFree(
  { content: { version, overlap } }: Pick<StoredSchedule, 'content'>,
  { again, versionNo }: GiveRule,
  given: GivenDevice,
  now: SteadyInstant,
): boolean {
  if (given.againAt !== null && given.againAt <= now) return true
  if (again !== 'ON_NEW_VERSION' || versionNo === undefined) return false
  const { jobVersion } = given
  // The run may have a newer version than the one known when its devices were chosen.
  const isNew = jobVersion === null || (version === null ? jobVersion < versionNo : jobVersion !== versionNo)
  const isBusy = given.jobExecutionId !== null && given.endedAt === null
  return isNew && (!isBusy || overlap === 'REPLACE')
}

/** Records ended executions. Returns the devices that may get the job again at once. */
export async function settleEnds(
  deps: Pick<LaunchScheduleDeps, 'store' | 'moment'>,
  schedule: StoredSchedule,
  rule: GiveRule,
  ends: Pick<ScheduledMove, 'deviceNo' | 'jobExecutionId' | 'cause'>[],
): Promise<number[]> {
  const free: number[] = []
  for (const some of inSlices(ends)) {
    const causes = new Map(some.map((end) => [end.jobExecutionId, end.cause]))
    const deviceNos = [...new Set(some.map(({ deviceNo }) => deviceNo))]
    const found = await deps.store.listGiven({ scheduleNo: schedule.scheduleNo, deviceNos })
    const ended = found.filter(({ jobExecutionId }) => causes.has(jobExecutionId ?? -1))
    const isCanceled = ({ jobExecutionId }: GivenDevice) =>
      causes.get(jobExecutionId ?? -1) === 'no-longer-matching'
    const { clock } = deps.moment()
    await recordEnded(deps, schedule, ended, (given) => rule.again === 'WHILE_MATCHING' || isCanceled(given))
    for (const given of ended)
      if (isFree(schedule, rule, { ...given, endedAt: clock }, clock)) free.push(given.deviceNo)
  }
  return free
}

/** `hasAgain`: whether the device gets the job again after its back-off. */
async function recordEnded(
  { store, moment }: Pick<LaunchScheduleDeps, 'store' | 'moment'>,
  schedule: StoredSchedule,
  ended: GivenDevice[],
  hasAgain: (given: GivenDevice) => boolean,
): Promise<void> {
  const { scheduleNo } = schedule
  const { clock: at } = moment()
  const planned = ended.filter(({ againAt }) => againAt === null)
  const againAtOf = (given: GivenDevice) =>
    hasAgain(given) ? laterBy(backOffMs(schedule, given.times ?? 1), at) : null
  for (const [againAt, some] of Map.groupBy(planned, againAtOf)) {
    const deviceNos = some.map(({ deviceNo }) => deviceNo)
    const jobExecutionIds = some.flatMap(({ jobExecutionId }) => jobExecutionId ?? [])
    await store.recordEnded({ scheduleNo, deviceNos, jobExecutionIds, at, againAt })
  }
}

/** Records devices that no longer match; those that were never given the job are ignored. */
export async function settleLeavers(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  rule: GiveRule,
  deviceNos: number[],
): Promise<void> {
  const { scheduleNo } = schedule
  for (const some of inSlices(deviceNos)) {
    const given = await deps.store.listGiven({ scheduleNo, deviceNos: some })
    await settleLeft(deps, schedule, rule, given)
  }
}

async function settleLeft(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  { again, onLeave }: GiveRule,
  given: GivenDevice[],
): Promise<void> {
  if (onLeave === 'CANCEL') {
    const canceled = await cancelWaiting(
      deps,
      given.flatMap(({ endedAt, jobExecutionId }) => (endedAt === null ? (jobExecutionId ?? []) : [])),
    )
    const ended = given.filter(({ jobExecutionId }) => canceled.has(jobExecutionId ?? -1))
    await recordEnded(deps, schedule, ended, () => true)
  }
  const left = given.filter(({ times }) => again === 'WHILE_MATCHING' && (times ?? 0) > 0)
  if (left.length === 0) return
  const againAt = laterBy(backOffMs(schedule, 1), deps.moment().clock)
  const deviceNos = left.map(({ deviceNo }) => deviceNo)
  await deps.store.recordLeft({ scheduleNo: schedule.scheduleNo, deviceNos, againAt })
}

/**
 * Cancels PENDING executions of the earlier version on devices that get a newer one. Another node may have given them the
 * newer version since they were chosen, so this is checked again; its executions stay.
 */
export async function supersedeGiven(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  rule: GiveRule,
  deviceNos: number[],
): Promise<void> {
  const { scheduleNo } = schedule
  for (const some of inSlices(deviceNos, canceledAtOnce)) {
    const given = await deps.store.listGiven({ scheduleNo, deviceNos: some })
    const moment = deps.moment()
    const older = given.filter((each) => each.endedAt === null && isFree(schedule, rule, each, moment.clock))
    const jobExecutionIds = older.flatMap(({ jobExecutionId }) => jobExecutionId ?? [])
    if (jobExecutionIds.length === 0) continue
    const before = { jobExecutionIds, moment, actor: actorOf(callerOf(schedule)) }
    notifyTaken(deps, await deps.store.supersede(before))
  }
}

/** Cancels PENDING executions; those in progress continue. Returns the canceled ones. */
async function cancelWaiting(deps: LaunchScheduleDeps, jobExecutionIds: number[]): Promise<Set<number>> {
  const canceled = new Set<number>()
  for (let start = 0; start < jobExecutionIds.length; start += canceledAtOnce) {
    const some = jobExecutionIds.slice(start, start + canceledAtOnce)
    const left = { jobExecutionIds: some, moment: deps.moment(), actor: 'clock' }
    const moved = await deps.store.cancelLeft(left)
    notifyTaken(deps, moved)
    for (const { jobExecutionId } of moved) canceled.add(jobExecutionId)
  }
  return canceled
}

/** Goes through all devices that were given the job, if events are missing or the rule has changed. */
export async function settleAll(
  deps: LaunchScheduleDeps,
  schedule: StoredSchedule,
  rule: GiveRule,
  matching: ReadonlySet<number>,
): Promise<void> {
  const { scheduleNo } = schedule
  for (let after = -1; ; ) {
    const given = await deps.store.listAllGiven({ scheduleNo, after, limit: givenAtOnce })
    const last = given.at(-1)
    if (last === undefined) return
    // Ends that do not lead to another execution are recorded already: do not repeat that for each version.
    const isRepeated = rule.again === 'WHILE_MATCHING'
    const planned = given.filter(
      ({ againAt, endedAt }) => againAt === null && (isRepeated || endedAt === null),
    )
    const jobExecutionIds = planned.flatMap(({ jobExecutionId }) => jobExecutionId ?? [])
    const unended = new Set(await deps.store.listUnended({ jobExecutionIds }))
    const ended = planned.filter(({ jobExecutionId }) => !unended.has(jobExecutionId ?? -1))
    await recordEnded(deps, schedule, ended, () => isRepeated)
    if (watchesLeavers(rule)) {
      const left = given.filter(({ deviceNo }) => !matching.has(deviceNo))
      await settleLeft(deps, schedule, rule, left)
    }
    after = last.deviceNo
  }
}

function* inSlices<Item>(items: readonly Item[], size = givenAtOnce): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
