// A schedule makes runs: at one instant, by a pattern, or for every device that starts to match.

import Type, { type Static } from 'typebox'
import { KeyState } from '../api-key.ts'
import { Failing } from '../failing.ts'
import { Targets } from '../new-run.ts'
import { Rollout } from '../rollout.ts'
import { GivenInstant, Instant, keyNameOf, Name, NewJobName, orNull, Prose } from '../text.ts'
import { JobVersionNumber } from './jobs.ts'
import type { Resource } from './resource.ts'
import { WindowName } from './windows.ts'

export const overlaps = ['SKIP', 'REPLACE', 'QUEUE'] as const
export type Overlap = (typeof overlaps)[number]

const seconds = (maximum: number, description: string) => Type.Integer({ minimum: 0, maximum, description })

/** Patterns and zones are read where they are used: J-507 says what is wrong with them. */
export const When = Type.Object(
  {
    cron: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Five fields: minute, hour, day of month, month, day of week. A local time that the clocks skip runs at the ' +
          'first instant after the gap; one that comes twice runs once',
        examples: ['0 3 * * 1-5'],
      }),
    ),
    timeZone: Type.Optional(
      Type.String({ maxLength: 64, description: 'With cron: an IANA time zone; default UTC' }),
    ),
    at: Type.Optional(Type.String({ ...GivenInstant, description: 'Once, at this instant' })),
    match: Type.Optional(
      Type.Literal(true, {
        description: 'Once for every device that matches, now or as soon as it starts to match',
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

/** Of a list of devices that is kept with each schedule. */
export const maxScheduleDevices = 1000

/** The whole content of a schedule: PUT resets omitted fields. */
export const ScheduleContent = Type.Object(
  {
    jobName: Name,
    targets: Targets,
    when: When,
    version: Type.Optional(
      orNull(JobVersionNumber, { description: 'Of the job; default: the current one each time' }),
    ),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values of the parameters of the job, at most 16 KiB; secret ones are refused here',
      }),
    ),
    description: Type.Optional(Prose),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({
        ...Rollout,
        description: "How each of its runs is released; default: the job's, or all at once",
      }),
    ),
    approval: Type.Optional(
      Type.Boolean({
        description: "Nothing of a run is released before another key approves it; default: the job's",
      }),
    ),
    window: Type.Optional(
      Type.Unsafe<string>({
        ...WindowName,
        description: "Name of the window in which its runs are offered to devices; default: the job's",
      }),
    ),
    overlap: Type.Optional(
      Type.Unsafe<Overlap>({
        type: 'string',
        enum: [...overlaps],
        description:
          'A device that still has an unfinished execution of this schedule: SKIP (default) leaves it out, REPLACE ' +
          'cancels the one that waits, QUEUE adds another',
      }),
    ),
    catchUpSeconds: Type.Optional(
      seconds(604_800, 'How late an occurrence may run after the service was down; default 3600'),
    ),
    jitterSeconds: Type.Optional(
      seconds(
        86_400,
        'Each occurrence runs up to so much later; by how much is different each time, but the same for everybody. Default 0',
      ),
    ),
    pauseAfterFailures: Type.Optional(
      orNull(Type.Integer({ minimum: 1, maximum: 100 }), {
        description: 'After so many runs in a row of which none succeeded it is paused; default: never',
      }),
    ),
    until: Type.Optional(
      orNull(GivenInstant, { description: 'Nothing runs after this instant; default: no end' }),
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
    version: orNull(Type.Integer(), { description: 'Of the job; null: the current one each time' }),
    parameters: Type.Record(Type.String(), Type.Unknown()),
    description: orNull(Type.String()),
    rollout: orNull(Rollout),
    approval: Type.Boolean(),
    window: orNull(Type.String(), { description: "Null: the job's, if it has one" }),
    overlap: Type.Unsafe<Overlap>({ type: 'string', enum: [...overlaps] }),
    catchUpSeconds: Type.Integer(),
    jitterSeconds: Type.Integer(),
    pauseAfterFailures: orNull(Type.Integer()),
    until: orNull(Instant),
    paused: Type.Boolean(),
    pausedBecause: orNull(Type.String(), { description: 'Why, in words' }),
    pausedBy: orNull(Type.String(), { description: 'Who: `key:<keyId>`, or `service`' }),
    pausedByName: keyNameOf('pausedBy'),
    pausedAt: orNull(Instant),
    nextAt: orNull(Instant, {
      description:
        'Its next occurrence, without jitter; null while it is paused, after its end, and with match',
    }),
    lastScheduledFor: orNull(Instant, { description: 'The occurrence that ran last' }),
    lastFiredAt: orNull(Instant, { description: 'When that was' }),
    lastRunId: orNull(Type.Integer(), {
      description: 'The run it made; null: none yet, or there was no device',
    }),
    failures: Type.Integer({ description: 'How many of its last runs in a row failed' }),
    failing: orNull(Failing, {
      description: 'It cannot make its run, and is tried again: twice or more in a row that has failed',
    }),
    createdAt: Instant,
    updatedAt: Instant,
    updatedBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
      description: 'Who put or resumed it last; its runs count as created by that key',
    }),
    updatedByName: keyNameOf('updatedBy'),
    updatedByState: orNull(KeyState, {
      description:
        'Of that key. A schedule belongs to the owner: it goes on after its key has expired or was revoked, and is ' +
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

export const ScheduleEventData = Type.Object(
  {
    scheduleName: Type.String(),
    jobName: Type.String(),
    scheduledFor: Type.Optional(Instant),
    runId: Type.Optional(orNull(Type.Integer())),
    matched: Type.Optional(Type.Integer({ description: 'How many devices matched' })),
    skipped: Type.Optional(
      Type.Integer({ description: 'How many of them were left out: an execution of theirs is unfinished' }),
    ),
    count: Type.Optional(Type.Integer({ description: 'How many occurrences were missed' })),
    isMore: Type.Optional(Type.Boolean({ description: 'There were more than were counted' })),
    from: Type.Optional(Instant),
    to: Type.Optional(Instant),
    because: Type.Optional(Type.String()),
    principal: Type.String({ description: 'Who did it: `key:<keyId>`, or `service`' }),
  },
  {
    title: 'ScheduleEventData',
    description:
      '`scheduledFor`, `runId`, `matched` and `skipped` with `schedule.fired`: without `runId` there was no device. ' +
      '`count`, `from` and `to` with `schedule.missed`: the first and the last of the missed occurrences. `because` with ' +
      '`schedule.missed` and `schedule.paused`',
  },
)
export type ScheduleEventData = Static<typeof ScheduleEventData>

export const schedules = {
  name: 'schedules',
  noun: 'schedule',
  about: 'Schedules: what makes runs by itself',
  key: 'scheduleName',
  params: ScheduleParams,
  content: ScheduleContent,
  view: Schedule,
  scopes: { read: 'READ', write: 'MANAGE', alsoPut: 'TRIGGER' },
  quota: 1000,
  notFound: 'J-310',
  refusals: { put: ['J-001', 'J-301', 'J-309', 'J-311', 'J-313', 'J-503', 'J-507'] },
  events: {},
  texts: {
    put:
      'A schedule makes ordinary runs: at one instant (`at`), by a pattern in a time zone (`cron`), or once for every ' +
      'device that matches or starts to match (`match`). A replaced one stays paused if it is paused. At most 1,000 per owner. ' +
      'Needs TRIGGER beside MANAGE.',
    delete: 'The runs it has made stay as they are, and keep its name.',
  },
} as const satisfies Resource
