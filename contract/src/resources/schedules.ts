// A schedule creates runs: at one instant, by a pattern, or for every device that starts to match.

import Type, { type Static } from 'typebox'
import { KeyState } from '../api-key.ts'
import { Approval, approvalOf } from '../approval.ts'
import { exceptDates } from '../except-dates.ts'
import { Failing } from '../failing.ts'
import { Targets } from '../new-run.ts'
import { Priority } from '../priority.ts'
import { Rollout } from '../rollout.ts'
import { SchedulePause } from '../schedule-pause.ts'
import { GivenInstant, Instant, keyNameOf, Name, NewJobName, orNull, Prose } from '../text.ts'
import { JobVersionNumber } from './jobs.ts'
import type { Resource } from './resource.ts'
import { WindowName } from './windows.ts'

export const overlaps = ['SKIP', 'REPLACE', 'QUEUE'] as const
export type Overlap = (typeof overlaps)[number]

export const agains = ['ON_NEW_VERSION', 'WHILE_MATCHING'] as const
export type Again = (typeof agains)[number]
export const defaultBackOffSeconds = 60

const seconds = (maximum: number, description: string) => Type.Integer({ minimum: 0, maximum, description })

/** Patterns and zones are checked when they are parsed; J-507 describes the error. */
export const When = Type.Object(
  {
    cron: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Five fields: minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly (on Sunday), @monthly. An occurrence at a skipped local time runs at the ' +
          'first instant after the gap; one at a local time that occurs twice runs once',
        examples: ['0 3 * * 1-5'],
      }),
    ),
    timeZone: Type.Optional(
      Type.String({ maxLength: 64, description: 'With cron: an IANA time zone; default UTC' }),
    ),
    at: Type.Optional(Type.String({ ...GivenInstant, description: 'Once, at this instant' })),
    match: Type.Optional(
      Type.Literal(true, {
        description:
          'For every device that matches, now or as soon as it starts to match: once, unless `again` says otherwise',
      }),
    ),
    again: Type.Optional(
      Type.Unsafe<Again>({
        type: 'string',
        enum: [...agains],
        description:
          'With match: ON_NEW_VERSION gives each device every new version of the job once; WHILE_MATCHING gives a device that still ' +
          'matches after its execution has ended another one, after a back-off. By default, once per device',
      }),
    ),
    backOffSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description:
          'With again or onLeave: how long after its execution has ended a device gets the next one; doubled each time, up to a day, until it ' +
          'no longer matches. Default 60',
      }),
    ),
    onLeave: Type.Optional(
      Type.Literal('CANCEL', {
        description:
          'With match: cancel the pending execution of a device that no longer matches, with the cause `no-longer-matching`',
      }),
    ),
  },
  {
    title: 'When',
    additionalProperties: false,
    minProperties: 1,
    description: 'Exactly one of cron, at and match',
    examples: [{ cron: '0 3 * * 1-5', timeZone: 'Europe/Berlin' }],
  },
)
export type When = Static<typeof When>

/** Checks rules that the schema cannot express; undefined if valid. */
export function whenProblem(
  { cron, timeZone, at, match, again, backOffSeconds, onLeave }: When,
  overlap?: Overlap,
): { field: string; detail: string } | undefined {
  const given = [cron, at, match].filter((each) => each !== undefined)
  if (given.length !== 1)
    return { field: 'when', detail: 'when must have exactly one of cron, at and match.' }
  const needs = (field: string, needed: string) => {
    return { field, detail: `${field} is used with ${needed}, which is missing.` }
  }
  if (timeZone !== undefined && cron === undefined) return needs('when.timeZone', 'cron')
  if (again !== undefined && !match) return needs('when.again', 'match')
  if (onLeave !== undefined && !match) return needs('when.onLeave', 'match')
  if (backOffSeconds !== undefined && again === undefined && onLeave === undefined)
    return needs('when.backOffSeconds', 'again or onLeave')
  if (again !== undefined && overlap === 'QUEUE')
    return { field: 'overlap', detail: 'overlap cannot be QUEUE with when.again: use SKIP or REPLACE.' }
  return undefined
}

/** The form in responses, including the default backoff if it applies. */
export function matchOf({
  again,
  onLeave,
  backOffSeconds = defaultBackOffSeconds,
}: Pick<When, 'again' | 'onLeave' | 'backOffSeconds'>): When {
  return {
    match: true,
    ...(again !== undefined && { again }),
    ...((again ?? onLeave) !== undefined && { backOffSeconds }),
    ...(onLeave !== undefined && { onLeave }),
  }
}

/** The maximum size of the list of devices that is stored with a schedule. */
export const maxScheduleDevices = 1000

/** The whole content of a schedule: PUT resets omitted fields. */
export const ScheduleContent = Type.Object(
  {
    jobName: Name,
    targets: Targets,
    when: When,
    version: Type.Optional(
      orNull(JobVersionNumber, {
        description: 'Version of the job; by default, each run uses the current one',
      }),
    ),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values of the parameters of the job, at most 16 KiB; secret ones are rejected here',
      }),
    ),
    description: Type.Optional(Prose),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({
        ...Rollout,
        description: 'How each of its runs is released; by default, as the job defines, or all at once',
      }),
    ),
    approval: Type.Optional(
      approvalOf(
        'Its runs are released only after others approve them: true for one approval, or the number of approvals. It can add ' +
          'to what the job requires, but not lower it',
      ),
    ),
    window: Type.Optional(
      Type.Unsafe<string>({
        ...WindowName,
        description:
          'Name of the window in which its runs are offered to devices; by default, the window of the job',
      }),
    ),
    replaces: Type.Optional(
      Type.Boolean({
        description:
          'Each run cancels pending executions of the same job on its devices, with the cause `superseded`, once it is approved ' +
          'if it needs approval. Default false',
      }),
    ),
    priority: Type.Optional(
      Type.Integer({
        ...Priority,
        description:
          'From 0 to 9; executions of its runs with a higher priority are offered first to a device. By default, the priority of the job',
      }),
    ),
    overlap: Type.Optional(
      Type.Unsafe<Overlap>({
        type: 'string',
        enum: [...overlaps],
        description:
          'A device that still has an unfinished execution of this schedule: SKIP (default) skips it, REPLACE ' +
          'cancels a pending one, QUEUE adds another',
      }),
    ),
    catchUpSeconds: Type.Optional(
      seconds(604_800, 'How late an occurrence may run after the service was down; default 3600'),
    ),
    jitterSeconds: Type.Optional(
      seconds(
        86_400,
        'Random delay of up to this many seconds for each occurrence, the same on all nodes. Default 0',
      ),
    ),
    pauseAfterFailures: Type.Optional(
      orNull(Type.Integer({ minimum: 1, maximum: 100 }), {
        description: 'Pause it after this many runs in a row in which no device succeeded; default: never',
      }),
    ),
    except: Type.Optional(
      exceptDates(
        'With cron: dates in its time zone on which it does not run; a range such as 2026-12-24/2027-01-02 includes both ends',
      ),
    ),
    until: Type.Optional(
      orNull(GivenInstant, { description: 'No runs are created after this time; default: no end' }),
    ),
  },
  {
    title: 'ScheduleContent',
    additionalProperties: false,
    examples: [
      {
        jobName: 'collect-logs',
        targets: { group: 'kiosks' },
        when: { cron: '0 3 * * 1-5', timeZone: 'Europe/Berlin' },
        overlap: 'SKIP',
        catchUpSeconds: 3600,
        jitterSeconds: 300,
        pauseAfterFailures: 3,
        until: null,
      },
    ],
  },
)
export type ScheduleContent = Static<typeof ScheduleContent>

export const Schedule = Type.Object(
  {
    scheduleName: Type.String(),
    jobName: Type.String(),
    targets: Targets,
    when: When,
    version: orNull(Type.Integer(), {
      description: 'Version of the job; null: each run uses the current one',
    }),
    parameters: Type.Record(Type.String(), Type.Unknown()),
    description: orNull(Type.String()),
    rollout: orNull(Rollout),
    approval: Approval,
    window: orNull(Type.String(), { description: "Null: the job's, if it has one" }),
    priority: orNull(Type.Integer(), { description: "Null: the job's" }),
    replaces: Type.Boolean(),
    overlap: Type.Unsafe<Overlap>({ type: 'string', enum: [...overlaps] }),
    catchUpSeconds: Type.Integer(),
    jitterSeconds: Type.Integer(),
    pauseAfterFailures: orNull(Type.Integer()),
    except: Type.Array(Type.String()),
    until: orNull(Instant),
    paused: Type.Boolean(),
    pausedBecause: orNull(Type.String(), { description: 'The reason, as a sentence' }),
    pausedBy: orNull(Type.String(), { description: 'Who: `key:<keyId>`, `service`, or `stop rule`' }),
    pausedByName: keyNameOf('pausedBy'),
    pausedAt: orNull(Instant),
    pausedCause: orNull(SchedulePause, {
      description: 'pausedBecause for programs; null also if an earlier version has paused it',
    }),
    nextAt: orNull(Instant, {
      description:
        'Its next occurrence, without jitter; null while it is paused, after its end, and with match',
    }),
    lastScheduledFor: orNull(Instant, { description: 'The last occurrence that ran' }),
    lastFiredAt: orNull(Instant, { description: 'When that was' }),
    lastRunId: orNull(Type.Integer(), {
      description: 'The run it created; null: none yet, or there was no device',
    }),
    failures: Type.Integer({ description: 'How many of its last runs in a row failed' }),
    failing: orNull(Failing, {
      description: 'It cannot create its run and is retried: this has failed twice or more in a row',
    }),
    createdAt: Instant,
    updatedAt: Instant,
    updatedBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
      description: 'Who last created, updated or resumed it; its runs count as created by that key',
    }),
    updatedByName: keyNameOf('updatedBy'),
    updatedByState: orNull(KeyState, {
      description:
        'The state of that key. A schedule belongs to the owner: it continues after its key has expired or was revoked, and is ' +
        'paused when the key is revoked with its descendants',
    }),
  },
  { title: 'Schedule' },
)
export type Schedule = Static<typeof Schedule>

export const ScheduleParams = Type.Object({ scheduleName: NewJobName })

export const OccurrenceQuery = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'How many, at most' }),
  },
  { additionalProperties: false },
)

export const Occurrence = Type.Object(
  {
    at: Instant,
    local: Type.String({
      description: "The same instant in the schedule's time zone",
      examples: ['2026-12-01T03:00+01:00'],
    }),
  },
  { title: 'Occurrence' },
)
export type Occurrence = Static<typeof Occurrence>
export const Occurrences = Type.Array(Occurrence)

export const schedules = {
  name: 'schedules',
  noun: 'schedule',
  about: 'Schedules: create runs automatically',
  key: 'scheduleName',
  params: ScheduleParams,
  content: ScheduleContent,
  view: Schedule,
  scopes: { read: 'READ', write: 'MANAGE', alsoPut: 'TRIGGER' },
  quota: 1000,
  notFound: 'J-310',
  refusals: { put: ['J-001', 'J-301', 'J-309', 'J-311', 'J-313', 'J-318', 'J-319', 'J-503', 'J-507'] },
  events: { created: 'schedule.changed', updated: 'schedule.changed', deleted: 'schedule.deleted' },
  texts: {
    put:
      'A schedule creates runs: at one time (`at`), by a cron pattern in a time zone (`cron`), or once for every ' +
      'device that matches or starts to match (`match`). A paused schedule stays paused when it is replaced. At most 1,000 per owner. ' +
      'Needs TRIGGER as well as MANAGE.',
    delete: 'Its runs are not affected, and keep its name.',
  },
} as const satisfies Resource
