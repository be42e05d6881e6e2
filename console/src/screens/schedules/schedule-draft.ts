// The draft of a schedule, as texts in form fields.

import { isJobcastError, type Schedule, type ScheduleContent } from '@jobcast/client'
import { givenParameters, type ParametersDraft } from '../../parameters/parameters-draft.ts'
import { parseDuration, writeDuration } from '../../parts/duration.ts'
import { localTime, utcTime } from '../../parts/local-time.ts'
import { timeZone as ownZone } from '../../parts/time.ts'
import { zoneProblem } from '../../parts/zone-field.tsx'
import {
  type EditedRollout,
  editedRolloutProblem,
  editRollout,
  rolloutOf,
} from '../../rollout/edited-rollout.ts'
import { readSelector } from '../../selector/selector-text.ts'
import { isException } from '../windows/window-draft.ts'

export type TargetKind = 'where' | 'group' | 'deviceIds'
type Again = NonNullable<Schedule['when']['again']>
export type WhenKind = 'cron' | 'at' | 'match'

export type ScheduleDraft = {
  jobName: string
  description: string
  targetKind: TargetKind
  where: string
  group: string
  deviceIds: string[]
  whenKind: WhenKind
  cron: string
  timeZone: string
  except: string[]
  at: string
  /** Empty: once on each device. */
  again: Again | ''
  backOff: string
  cancelsLeavers: boolean
  window: string
  /** A digit; empty: the priority of the job. */
  priority: string
  replaces: boolean
  overlap: Schedule['overlap']
  catchUp: string
  jitter: string
  pauseAfter: string
  until: string
  rollout: EditedRollout
  approval: Schedule['approval']
  parameters: ParametersDraft
  /** Not changed by the form. */
  version: Schedule['version']
}
export type ScheduleField = keyof ScheduleDraft

export function scheduleDraft(schedule?: Schedule): ScheduleDraft {
  const targets: Schedule['targets'] = schedule?.targets ?? { where: '' }
  const when: Schedule['when'] = schedule?.when ?? { cron: '0 3 * * 1-5' }
  const local = (instant: string | null | undefined) => (instant ? localTime(withOffset(instant)) : '')
  return {
    jobName: schedule?.jobName ?? '',
    description: schedule?.description ?? '',
    targetKind: targets.where !== undefined ? 'where' : targets.group === undefined ? 'deviceIds' : 'group',
    where: targets.where ?? '',
    group: targets.group ?? '',
    deviceIds: targets.deviceIds ?? [],
    whenKind: when.match ? 'match' : when.at === undefined ? 'cron' : 'at',
    cron: when.cron ?? '',
    timeZone: when.timeZone ?? (schedule ? 'UTC' : ownZone),
    except: schedule?.except ?? [],
    at: local(when.at),
    again: when.again ?? '',
    backOff: writeDuration(when.backOffSeconds ?? 60),
    cancelsLeavers: when.onLeave !== undefined,
    window: schedule?.window ?? '',
    priority: String(schedule?.priority ?? ''),
    replaces: schedule?.replaces ?? false,
    overlap: schedule?.overlap ?? 'SKIP',
    catchUp: writeDuration(schedule?.catchUpSeconds ?? 3600),
    jitter: schedule?.jitterSeconds ? writeDuration(schedule.jitterSeconds) : '',
    pauseAfter: String(schedule?.pauseAfterFailures ?? ''),
    until: local(schedule?.until),
    rollout: editRollout(schedule?.rollout),
    approval: schedule?.approval ?? false,
    parameters: givenParameters(schedule?.parameters ?? {}),
    version: schedule?.version ?? null,
  }
}

/** Adds the offset to times of the API, which are in UTC without an offset. */
function withOffset(instant: string): string {
  return /Z$|[+-]\d\d:\d\d$/.test(instant) ? instant : `${instant}Z`
}

/** Only for valid drafts. */
export function scheduleContent(draft: ScheduleDraft): ScheduleContent {
  const { description, window, overlap, catchUp, jitter, pauseAfter, until, approval } = draft
  const rollout = rolloutOf(draft.rollout)
  const { given } = draft.parameters
  return {
    jobName: draft.jobName,
    targets: targetsOf(draft),
    when: whenOf(draft),
    ...(description.trim() && { description: description.trim() }),
    ...(window && { window }),
    ...(draft.priority && { priority: Number(draft.priority) }),
    ...(draft.replaces && { replaces: true }),
    overlap,
    catchUpSeconds: catchUp.trim() === '' ? 0 : (parseDuration(catchUp) as number),
    ...(jitter.trim() && { jitterSeconds: parseDuration(jitter) as number }),
    ...(pauseAfter.trim() && { pauseAfterFailures: Number(pauseAfter) }),
    ...(draft.whenKind === 'cron' && draft.except.length > 0 && { except: draft.except }),
    ...(until && { until: untilOf(draft) as string }),
    ...(rollout && { rollout }),
    ...(Object.keys(given).length > 0 && { parameters: given }),
    ...(draft.version !== null && { version: draft.version }),
    ...(approval && { approval }),
  }
}

/** Undefined: it has no end. */
export function untilOf({ until }: ScheduleDraft): string | undefined {
  return utcTime(until)
}

export function targetsOf({
  targetKind,
  where,
  group,
  deviceIds,
}: ScheduleDraft): ScheduleContent['targets'] {
  if (targetKind === 'where') return { where: where.trim() }
  return targetKind === 'group' ? { group: group.trim() } : { deviceIds }
}

export function whenOf(draft: ScheduleDraft): ScheduleContent['when'] {
  const { whenKind, cron, timeZone, at, again, backOff, cancelsLeavers } = draft
  if (whenKind === 'match') {
    return {
      match: true,
      ...(again && { again }),
      ...((again || cancelsLeavers) && { backOffSeconds: parseDuration(backOff) as number }),
      ...(cancelsLeavers && { onLeave: 'CANCEL' as const }),
    }
  }
  if (whenKind === 'at') return { at: utcTime(at) as string }
  return { cron: cron.trim(), timeZone: timeZone.trim() }
}

/** The backoff also applies to devices that did not match for a while. */
export function usesBackOff({ whenKind, again, cancelsLeavers }: ScheduleDraft): boolean {
  return whenKind === 'match' && (again === 'WHILE_MATCHING' || cancelsLeavers)
}

type Problems = Partial<Record<ScheduleField, string>>

export function scheduleProblems(draft: ScheduleDraft): Problems {
  const found: Problems = { ...targetProblems(draft), ...whenProblems(draft), ...limitProblems(draft) }
  const backOff = parseDuration(draft.backOff) ?? Number.NaN
  if (usesBackOff(draft) && !(backOff >= 1 && backOff <= 86_400)) found.backOff = 'Must be 1 s to 1 d.'
  if (draft.jobName === '') found.jobName = 'Choose a job.'
  const rollout = editedRolloutProblem(draft.rollout)
  if (rollout) found.rollout = rollout
  if (!draft.parameters.isRight) found.parameters = 'Fill in the parameters.'
  return found
}

function targetProblems({ targetKind, where, group, deviceIds }: ScheduleDraft): Problems {
  if (targetKind === 'group') return group.trim() === '' ? { group: 'Choose a group.' } : {}
  if (targetKind === 'deviceIds')
    return deviceIds.length === 0 ? { deviceIds: 'Add at least one device.' } : {}
  const { kind } = readSelector(where)
  return kind === 'where' ? {} : { where: kind === 'none' ? 'Enter a selector.' : 'The selector is invalid.' }
}

function isPattern(cron: string): boolean {
  return /^@(?:hourly|daily|weekly|monthly)$/.test(cron) || cron.split(/\s+/).length === 5
}

function whenProblems({ whenKind, cron, timeZone, except, at, until }: ScheduleDraft): Problems {
  const problems: Problems = {}
  if (whenKind === 'cron') {
    if (!isPattern(cron.trim())) problems.cron = 'Must have five fields, such as 0 3 * * 1-5, or be @daily.'
    const wrongDate = except.find((text) => !isException(text))
    if (wrongDate)
      problems.except = `${wrongDate} is not a date such as 2026-12-24, or two dates separated by /.`
    const zone = timeZone.trim() === '' ? 'Choose a time zone.' : zoneProblem(timeZone)
    if (zone) problems.timeZone = zone
  }
  if (whenKind === 'at' && at === '') problems.at = 'Choose a time.'
  if (until !== '' && new Date(until).getTime() <= Date.now()) problems.until = 'Must be in the future.'
  return problems
}

function limitProblems({ catchUp, jitter, pauseAfter }: ScheduleDraft): Problems {
  const problems: Problems = {}
  const seconds = (text: string) => (text.trim() === '' ? 0 : parseDuration(text))
  if ((seconds(catchUp) ?? Number.NaN) <= 604_800 === false) problems.catchUp = 'Must be 0 s to 7 d.'
  if ((seconds(jitter) ?? Number.NaN) <= 86_400 === false) problems.jitter = 'Must be 0 s to 1 d.'
  const runs = Number(pauseAfter)
  const isCount = pauseAfter.trim() === '' || (Number.isInteger(runs) && runs >= 1 && runs <= 100)
  if (!isCount) problems.pauseAfter = 'Must be 1 to 100.'
  return problems
}

const fieldPaths: [string, ScheduleField][] = [
  ['jobName', 'jobName'],
  ['targets.where', 'where'],
  ['targets.group', 'group'],
  ['targets', 'deviceIds'],
  ['when.cron', 'cron'],
  ['when.timeZone', 'timeZone'],
  ['when.at', 'at'],
  ['when.again', 'again'],
  ['when.backOffSeconds', 'backOff'],
  ['overlap', 'overlap'],
  ['window', 'window'],
  ['except', 'except'],
  ['priority', 'priority'],
  ['until', 'until'],
  ['rollout', 'rollout'],
]

/** The field that the server refuses, with the reason. */
export function refusedScheduleField(error: unknown): { field: ScheduleField; text: string } | undefined {
  if (!isJobcastError(error)) return undefined
  const [, field] = fieldPaths.find(([path]) => error.field?.startsWith(path)) ?? []
  return field && { field, text: `${error.detail ?? error.message} (${error.code})` }
}

/** Props of one part of the form. */
export type PartProps = {
  draft: ScheduleDraft
  set: (change: Partial<ScheduleDraft>) => void
  errorOf: (field: ScheduleField) => string | undefined
}
