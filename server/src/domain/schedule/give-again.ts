// What a schedule with match remembers of the devices that were given its job, and when they get it again: each new version of
// the job once (ON_NEW_VERSION), or after a back-off for as long as they match (WHILE_MATCHING). Ends come from the event
// log, like changes of devices. All that is noted may be noted twice.

import type { Again } from '@jobcast/contract'
import { defaultBackOffSeconds } from '@jobcast/contract'
import { actorOf } from '../access/caller.ts'
import { laterBy, type SteadyInstant } from '../common/instants.ts'
import { notifyTaken } from '../execution/notify-moved.ts'
import { callerOf, type LaunchScheduleDeps } from './launch-schedule.ts'
import type { GivenDevice } from './ports/given-devices.ts'
import type { ScheduledMove, StoredSchedule } from './ports/schedules.ts'

/** What it means for a device to have been given the job. `versionNo`: with ON_NEW_VERSION, of the version of `jobName` it gets now. */
export type GiveRule = { again?: Again; onLeave?: 'CANCEL'; jobName?: string; versionNo?: number }

const longestBackOffMs = 86_400_000
const givenAtOnce = 2000
const canceledAtOnce = 500

/** Undefined: it gives its job once, whatever happens to it. */
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

/** After the end of an execution that was the n-th in a row. */
export function backOffMs({ content: { when } }: Pick<StoredSchedule, 'content'>, times: number): number {
  const { backOffSeconds = defaultBackOffSeconds } = when.kind === 'match' ? when : {}
  return Math.min(longestBackOffMs, backOffSeconds * 1000 * 2 ** Math.max(0, times - 1))
}

/** Whether a device gets it now if it matches, although it was given it before. */
export function isFree(
  { content: { version, overlap } }: Pick<StoredSchedule, 'content'>,
  { again, versionNo }: GiveRule,
  given: GivenDevice,
  now: SteadyInstant,
): boolean {
  if (given.againAt !== null && given.againAt <= now) return true
  if (again !== 'ON_NEW_VERSION' || versionNo === undefined) return false
  const { jobVersion } = given
  // The run may have got a newer version than was known when its devices were chosen.
  const isNew = jobVersion === null || (version === null ? jobVersion < versionNo : jobVersion !== versionNo)
  const isBusy = given.jobExecutionId !== null && given.endedAt === null
  return isNew && (!isBusy || overlap === 'REPLACE')
}

/** Executions have ended. Gives the devices that may get another one at once. */
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

/** `hasAgain`: whether it gets another one after its back-off. */
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

/** Devices that no longer match; one that was never given it changes nothing. */
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
 * These devices get a newer version: what waits of the one before is canceled. Somebody else may have given it to them since they
 * were chosen: that is judged again, and what waits of the new version stays.
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

/** What a device is working on goes on. Gives those that were canceled. */
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

/** Goes through all that were given it, where events are missing or its rule is another one now. */
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
    // What has ended and is not given again by itself was noted before: not each device once more for each version.
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
