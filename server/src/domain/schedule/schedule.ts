// A schedule creates runs of a job automatically: by a cron pattern, once at an instant, or on each device as soon as it
// matches (`when`). Its row has the next occurrence; for each occurrence, one run is created. This file has the owner's
// operations: put, read, pause, resume.
//
// Read next: schedule-times.ts and cron-pattern.ts, when it is due; fire-schedule.ts, the three durable steps from an
// occurrence to its run; launch-schedule.ts, that run; match-schedule.ts and fire-match.ts, devices that start to
// match; give-again.ts, devices that were given it before; schedule-state.ts and schedule-events.ts, what is stored and logged; view-schedule.ts, what is shown.

import { randomInt } from 'node:crypto'
import {
  ApiError,
  exceptProblem,
  matchOf,
  maxScheduleDevices,
  type Occurrence,
  parseInstant,
  requiredApprovals,
  type ScheduleContent,
  schedules,
  toApproval,
  toInstant,
  type When,
  whenProblem,
} from '@jobcast/contract'
import { toLocalText } from '@jobcast/contract/cron'
import { secretNames } from '@jobcast/contract/parameters'
import { isActiveKey } from '../access/access.ts'
import type { Caller } from '../access/caller.ts'
import type { OwnerTurns } from '../access/ports/owner-turns.ts'
import { principalOf } from '../access/principal.ts'
import { overQuota, type Quotas, tooMany } from '../access/quotas.ts'
import { isConfined, mayUseJob } from '../access/restriction.ts'
import { originOf } from '../audit/audit.ts'
import type { Expectation } from '../common/entity-tag.ts'
import { listVisible } from '../common/list-visible.ts'
import { notExpected, notFound } from '../common/not-found.ts'
import type { Put, Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { requireFiles } from '../file/file.ts'
import { requireVersion } from '../job/job-versions.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { requireRollout } from '../rollout/rollout-selectors.ts'
import { requireSecrets } from '../secret/secret.ts'
import { whereOf } from '../selector/select-devices.ts'
import { readSelector } from '../selector/selector.ts'
import { namedDevices } from '../trigger/launch-run.ts'
import { requireValues } from '../trigger/run-values.ts'
import { noWindow, requireWindow } from '../window/window.ts'
import { readCron } from './cron-pattern.ts'
import type { StoredSchedule, StoredScheduleContent, StoredWhen } from './ports/schedules.ts'
import { pausedEvent } from './schedule-events.ts'
import { nextOccurrence, timesAfter } from './schedule-times.ts'
import { countAnew } from './stop-schedule.ts'

export type ScheduleDeps = { store: Store; moment: () => Moment; quotas: Quotas; ownerTurns: OwnerTurns }

const matchQuota = 'match-schedules'
const defaultCatchUpSeconds = 3600
/** Attempts at the write: the schedule may change between our read and our write. */
const mostTries = 20
/** Random, so that a migrated database needs no counter. */
const newScheduleNo = () => randomInt(1, 2 ** 47)

export async function putSchedule(
  deps: ScheduleDeps,
  caller: Caller,
  scheduleName: string,
  request: ScheduleContent,
  expectation: Expectation = {},
): Promise<Put<StoredSchedule>> {
  const { ownerNo, keyId } = caller
  const { jobName } = request
  const { at } = deps.moment()
  const key = { ownerNo, scheduleName }
  const content = { ...toContent(request), putBy: keyId }
  const job = await requireVersion(deps, caller, jobName, request.version ?? undefined)
  await requireParameters(deps, ownerNo, job, request.parameters)
  await requireSecrets(deps, caller, job.secrets)
  await requireFiles(deps, caller, job.files)
  const before = await deps.store.getSchedule(key)
  await requireTargets(deps, caller, request, before)
  if (content.window !== undefined) await requireWindow(deps, caller, content.window)
  requireFuture(content, before, at)
  const scheduleNo = before?.scheduleNo ?? newScheduleNo()
  // A schedule for an instant that has just come runs, unless it has run already.
  const isOpen = content.when.kind === 'at' && before?.lastFor !== content.when.at
  const times = timesAfter(content, scheduleNo, isOpen ? 0 : at)
  const outcome = await deps.store.putSchedule({
    ...{ ...key, scheduleNo, jobName, content, keyId, at, times },
    // If its key is no longer active, the schedule moves to the key that puts it again.
    takesOver: before !== undefined && !(await isActiveKey(deps.store, before.keyId, at)),
    most: schedules.quota,
    mostMatching: deps.quotas[matchQuota],
    ...originOf(caller),
    ...expectation,
  })
  if (outcome.kind === 'key-revoked') throw new ApiError('J-802')
  if (outcome.kind === 'unknown-window') throw noWindow(content.window)
  if (outcome.kind === 'put') return outcome
  if (outcome.kind === 'not-expected') throw notExpected(schedules, scheduleName, expectation)
  if (outcome.kind === 'too-many-matching') throw overQuota(matchQuota, deps.quotas[matchQuota])
  throw tooMany(schedules)
}

export async function getSchedule(
  { store }: Pick<ScheduleDeps, 'store'>,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  scheduleName: string,
): Promise<StoredSchedule> {
  const schedule = await store.getSchedule({ ownerNo, scheduleName })
  if (schedule === undefined) throw notFound('J-310', scheduleName)
  return schedule
}

export function listSchedules(
  { store }: Pick<ScheduleDeps, 'store'>,
  caller: Caller,
  slice: Slice<string>,
): Promise<Sliced<StoredSchedule, string>> {
  const { ownerNo } = caller
  const list = (part: Slice<string>) => store.listSchedules({ ownerNo, slice: part })
  if (!isConfined(caller)) return list(slice)
  return listVisible(
    list,
    slice,
    ({ jobName }) => mayUseJob(caller, jobName),
    ({ scheduleName }) => scheduleName,
  )
}

export async function deleteSchedule(
  { store, moment }: ScheduleDeps,
  caller: Caller,
  scheduleName: string,
): Promise<void> {
  const by = { principal: principalOf(caller), at: moment().at, ...originOf(caller) }
  const isDeleted = await store.deleteSchedule({ ownerNo: caller.ownerNo, scheduleName, ...by })
  if (!isDeleted) throw notFound('J-310', scheduleName)
}

export function pauseSchedule(deps: ScheduleDeps, caller: Caller, name: string): Promise<StoredSchedule> {
  return change(deps, caller, name, (before, at) =>
    before.pausedAt === null
      ? pausedEvent(before, { rule: 'PRINCIPAL', because: 'it was paused manually' }, principalOf(caller), at)
      : undefined,
  )
}

/** Continues from now: occurrences during the pause are neither run nor reported as missed. */
export function resumeSchedule(deps: ScheduleDeps, caller: Caller, name: string): Promise<StoredSchedule> {
  return change(deps, caller, name, async (before, at) => {
    if (before.pausedAt === null) return undefined
    const { ownerNo, jobName, content, scheduleNo, occurrence, dueAt, lastRunId } = before
    if ((await deps.store.getJob({ ownerNo, jobName })) === undefined) throw notFound('J-301', jobName)
    const times = timesAfter(content, scheduleNo, at)
    return {
      set: {
        ...{ pausedBecause: null, pausedBy: null, pausedAt: null, pausedCause: null },
        ...{ failures: 0, handledAt: at, stopBaseline: await countAnew(deps, before) },
        // The schedule moves to the key that resumes it: the key that put it may be revoked.
        keyId: caller.keyId,
        ...{ failuresAfter: lastRunId ?? before.failuresAfter, watchedRunId: null },
        ...{ ...times, dueAt: occurrence ? dueAt : times.dueAt },
      },
      events: [
        { type: 'schedule.resumed', data: { scheduleName: name, jobName, principal: principalOf(caller) } },
      ],
    }
  })
}

/** The next occurrences, also while it is paused. */
export async function listOccurrences(
  deps: ScheduleDeps,
  caller: Caller,
  scheduleName: string,
  count: number,
): Promise<Occurrence[]> {
  const { content } = await getSchedule(deps, caller, scheduleName)
  const zone = content.when.kind === 'cron' ? content.when.timeZone : 'UTC'
  const found: Occurrence[] = []
  let next = nextOccurrence(content, deps.moment().at)
  while (next !== undefined && found.length < count) {
    found.push({ at: toInstant(next), local: toLocalText(zone, next) })
    next = nextOccurrence(content, next)
  }
  return found
}

type Decided = Pick<Parameters<Store['changeSchedule']>[0], 'set' | 'events'> | undefined

/** Reads, decides and writes, again if the schedule has changed in between. `decide` returns undefined if nothing changes. */
async function change(
  deps: ScheduleDeps,
  caller: Caller,
  scheduleName: string,
  decide: (before: StoredSchedule, at: number) => Decided | Promise<Decided>,
): Promise<StoredSchedule> {
  for (let tries = 0; tries < mostTries; tries++) {
    const before = await getSchedule(deps, caller, scheduleName)
    const { at } = deps.moment()
    const decided = await decide(before, at)
    if (decided === undefined) return before
    if (await deps.store.changeSchedule({ before, at, ...decided, ...originOf(caller) }))
      return getSchedule(deps, caller, scheduleName)
  }
  throw new ApiError('J-908', { retryAfterSeconds: 1 })
}

function toContent(request: ScheduleContent): StoredScheduleContent {
  const { targets, rollout, until, description, window, parameters = {}, except = [] } = request
  const wrongWhen = whenProblem(request.when, request.overlap)
  if (wrongWhen) throw new ApiError('J-500', wrongWhen)
  requireExcept(request)
  return {
    description: description ?? null,
    version: request.version ?? null,
    targets,
    when: toWhen(request.when),
    rollout: rollout ?? null,
    approval: toApproval(requiredApprovals(request.approval)),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(window && { window }),
    ...(request.priority !== undefined && { priority: request.priority }),
    ...(request.replaces && { replaces: true as const }),
    overlap: request.overlap ?? 'SKIP',
    catchUpSeconds: request.catchUpSeconds ?? defaultCatchUpSeconds,
    jitterSeconds: request.jitterSeconds ?? 0,
    pauseAfterFailures: request.pauseAfterFailures ?? null,
    ...(except.length > 0 && { except }),
    until: until === undefined || until === null ? null : parseInstant(until),
  }
}

function requireExcept({ when: { cron }, except = [] }: ScheduleContent): void {
  const problem = exceptProblem(except)
  if (problem) throw new ApiError('J-500', problem)
  if (except.length > 0 && cron === undefined)
    throw invalid('except', 'except is used with when.cron, which is missing.')
}

function toWhen({ cron, timeZone, at, ...given }: When): StoredWhen {
  if (at !== undefined) return { kind: 'at', at: parseInstant(at) }
  if (cron === undefined) {
    const { match: _, ...more } = matchOf(given)
    return { kind: 'match', ...more }
  }
  const zone = timeZone ?? 'UTC'
  readCron(cron, zone, 'when')
  return { kind: 'cron', cron, timeZone: zone }
}

/** Throws J-001, J-503, J-309, J-500. */
async function requireTargets(
  deps: ScheduleDeps,
  caller: Caller,
  { targets, rollout, when }: ScheduleContent,
  before: StoredSchedule | undefined,
): Promise<void> {
  if (rollout) await requireRollout(deps, caller, rollout)
  const where = whereOf(targets)
  if (where !== undefined) {
    const field = targets.group === undefined ? 'targets.where' : 'targets.group'
    await readSelector(deps, caller, where).catch((error: unknown) => {
      throw error instanceof ApiError ? new ApiError(error.code, { ...error.details, field }) : error
    })
    return
  }
  if (when.match) throw invalid('targets', 'With match, targets must be a selector (where) or a group.')
  if ((targets.deviceIds?.length ?? 0) > maxScheduleDevices) {
    const most = `targets.deviceIds of a schedule must have at most ${maxScheduleDevices} items; use tags and a selector.`
    throw invalid('targets.deviceIds', most)
  }
  await requireDevices(deps, caller, targets.deviceIds ?? [], before?.content.targets.deviceIds)
}

/** Checks devices that are new to the schedule; others may have been deleted meanwhile. */
async function requireDevices(
  { store }: ScheduleDeps,
  { ownerNo }: Caller,
  deviceIds: string[],
  known: string[] = [],
): Promise<void> {
  const added = new Set(deviceIds).difference(new Set(known))
  if (added.size === 0) return
  const where = { kind: 'in' as const, name: 'deviceId', values: [...added] }
  const slice = { after: undefined, limit: maxScheduleDevices }
  const { items } = await store.selectDevices({ ownerNo, where, slice })
  for (const { deviceId } of items) added.delete(deviceId)
  if (added.size === 0) return
  throw new ApiError('J-001', { field: 'targets.deviceIds', deviceIds: [...added].slice(0, namedDevices) })
}

/** Validated now, and again for each run. Secret parameters are refused, because they would be stored here: use named secrets. */
async function requireParameters(
  { ownerTurns }: ScheduleDeps,
  ownerNo: number,
  job: StoredJobVersion,
  parameters: Record<string, unknown> | undefined,
): Promise<void> {
  const [secret] = secretNames(job.parameters).filter((name) => Object.hasOwn(parameters ?? {}, name))
  if (secret !== undefined) {
    const field = `parameters.${secret}`
    throw invalid(
      field,
      `${field} is a secret, which a schedule cannot store: let the document use a named secret instead, as \${secrets.NAME}.`,
    )
  }
  await requireValues(ownerTurns, ownerNo, job, parameters)
}

/** Refuses a schedule that can never run again, unless it is put again unchanged. */
function requireFuture(content: StoredScheduleContent, before: StoredSchedule | undefined, at: number): void {
  const { when, until } = content
  if (when.kind === 'at') {
    const isOld = before?.content.when.kind === 'at' && before.content.when.at === when.at
    if (isOld || when.at > at) return
    throw invalid('when.at', 'when.at must be in the future.')
  }
  if (until === null || until >= at || before?.content.until === until) return
  throw invalid('until', 'until must be in the future.')
}

function invalid(field: string, detail: string): ApiError {
  return new ApiError('J-500', { field, detail })
}
