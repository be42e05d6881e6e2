// POST /job/api/runs: a run on listed or selected devices, and the plan of a run.

import Type, { type Static } from 'typebox'
import { approvalOf } from './approval.ts'
import { Priority } from './priority.ts'
import { Where } from './resources/groups.ts'
import { JobVersionNumber } from './resources/jobs.ts'
import { WindowName } from './resources/windows.ts'
import { Rollout } from './rollout.ts'
import { GivenInstant, Instant, mustBe, Name, orNull, Prose } from './text.ts'

export const Targets = Type.Object(
  {
    deviceIds: Type.Optional(
      Type.Array(Name, { minItems: 1, description: 'A device listed twice gets one execution' }),
    ),
    where: Type.Optional(Where),
    group: Type.Optional(Type.String({ ...Name, description: 'The devices of this group' })),
  },
  {
    title: 'Targets',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    description: 'Exactly one of deviceIds, where and group',
    examples: [{ where: 'tag=kiosk and fw<2.4.0' }],
  },
)
export type Targets = Static<typeof Targets>

export const onMissing = ['REFUSE', 'SKIP'] as const
export type OnMissing = (typeof onMissing)[number]

const NewRun = Type.Object(
  {
    jobName: Name,
    targets: Targets,
    version: Type.Optional(
      Type.Integer({ ...JobVersionNumber, description: 'Version of the job; by default, the current one' }),
    ),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Values of the parameters of the job, at most 16 KiB; omitted ones have their defaults',
        examples: [{ version: '2.4.1' }],
      }),
    ),
    onMissing: Type.Optional(
      Type.Unsafe<OnMissing>({
        type: 'string',
        enum: [...onMissing],
        description:
          'What happens with devices that lack an attribute that the document needs: REFUSE (default) rejects the ' +
          'call (J-506), SKIP skips them',
      }),
    ),
    note: Type.Optional(
      Type.String({
        ...Prose,
        maxLength: 500,
        description: 'A note that is stored with the run, for example the reason',
      }),
    ),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({
        ...Rollout,
        description: 'How it is released; by default, as the job defines, or all at once',
      }),
    ),
    approval: Type.Optional(
      approvalOf(
        'The run is released only after others approve it: true for one approval, or the number of approvals. It can add to ' +
          'what the job requires, but not lower it',
      ),
    ),
    startAt: Type.Optional(
      Type.String({
        ...GivenInstant,
        description: 'Nothing is released before this time, at most a year from now; by default, now',
      }),
    ),
    window: Type.Optional(
      Type.Unsafe<string>({
        ...WindowName,
        description:
          'Name of the window in which it is offered to devices; by default, the window of the job',
      }),
    ),
    ignoreWindows: Type.Optional(
      Type.Boolean({
        description:
          'Offer it at any time, even outside the windows of the job, of devices and of groups; needs MANAGE and a `note`',
      }),
    ),
    replaces: Type.Optional(
      Type.Boolean({
        description:
          'Cancel pending executions of the same job on these devices, with the cause `superseded`, once the run is approved if it ' +
          'needs approval; running ones continue. Default false',
      }),
    ),
    priority: Type.Optional(
      Type.Integer({
        ...Priority,
        description:
          'From 0 to 9; executions with a higher priority are offered first to a device. By default, the priority of the job',
      }),
    ),
  },
  { additionalProperties: false },
)
/** A requested or planned run. Plans store all fields, including those that are added here later. */
export type NewRun = Static<typeof NewRun>

const { jobName, targets } = NewRun.properties

/** The body of the call: a run, or the plan of one. */
export const RunBody = Type.Object(
  {
    ...NewRun.properties,
    jobName: Type.Optional(Type.Unsafe<string>({ ...jobName, description: 'Required without planId' })),
    targets: Type.Optional(Type.Unsafe<Targets>({ ...targets, description: 'Required without planId' })),
    planId: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._-]{1,100}$',
        [mustBe]: 'the planId of a dry run',
        description:
          'From a dry run, within 10 minutes: starts exactly what was planned, once; repeating the call returns the same ' +
          'run. No other field is needed; one that differs from the plan, a job, window or selection that has changed ' +
          'since, or an older plan is rejected (J-505)',
      }),
    ),
  },
  {
    title: 'NewRun',
    additionalProperties: false,
    examples: [
      { jobName: 'restart', targets: { where: 'tag=kiosk and fw<2.4.0' }, note: 'Ticket 4711' },
      { planId: 'pMx3hIbZ2vUUoiXWqDTTEg' },
    ],
  },
)
export type RunBody = Static<typeof RunBody>

export const DryRunQuery = Type.Object(
  {
    dryRun: Type.Boolean({ default: false, description: 'Return the plan and create nothing' }),
  },
  { additionalProperties: false },
)

export const holdCodes = ['SCHEDULED', 'AWAITING_APPROVAL', 'FROZEN', 'OUTSIDE_WINDOW'] as const

export const PlanHold = Type.Object({
  code: Type.Unsafe<(typeof holdCodes)[number]>({
    type: 'string',
    enum: [...holdCodes],
    description: 'As in the explanation of an execution',
  }),
  text: Type.String({ description: 'The same as a sentence' }),
  until: orNull(Instant, { description: 'When it no longer holds any device back, if that is known' }),
})
export type PlanHold = Static<typeof PlanHold>

export const RunPlan = Type.Object(
  {
    planId: Type.String({ description: 'Starts the run as it is shown here; valid for 10 minutes' }),
    total: Type.Integer({ description: 'How many devices are selected' }),
    online: Type.Integer(),
    offline: Type.Integer(),
    busy: Type.Integer({ description: 'How many of them are running an execution' }),
    waves: Type.Array(
      Type.Object({
        size: Type.Integer(),
        sample: Type.Array(Type.String(), { description: 'deviceIds of the first 20' }),
      }),
      { description: 'In the order of release; the run has the same devices in the same waves' },
    ),
    document: Type.Unknown({
      description:
        'The document that the first device would get, with secrets masked; null if it cannot be resolved',
    }),
    holds: Type.Array(PlanHold, { description: 'What will hold the run back once it is created' }),
    problems: Type.Array(Type.String(), {
      description:
        'What prevents the run, or is probably not what you want, as sentences: also that fewer devices of the first wave are ' +
        'online than its gate needs',
    }),
  },
  { title: 'RunPlan' },
)
export type RunPlan = Static<typeof RunPlan>

export const ImportFailure = Type.Object({
  line: Type.Integer({ description: 'Counted from 1' }),
  code: Type.String(),
  message: Type.String(),
})
export type ImportFailure = Static<typeof ImportFailure>

export const ImportQuery = Type.Object(
  {
    dryRun: Type.Boolean({
      default: false,
      description: 'Return what would be created and overwritten, and store nothing. Quotas are not checked',
    }),
    merge: Type.Boolean({
      default: false,
      description:
        'Of devices that exist, set only the fields and attributes that a line has, as PATCH does; without it they are replaced',
    }),
  },
  { additionalProperties: false },
)
export type ImportQuery = Static<typeof ImportQuery>

export const Overwritten = Type.Object({
  field: Type.String({ description: 'A field of devices, or attributes.NAME' }),
  devices: Type.Integer({ description: 'How many devices lose the value that they have' }),
  example: Type.Object({
    deviceId: Type.String(),
    before: Type.String(),
    after: orNull(Type.String(), { description: 'Null: it is removed' }),
  }),
})
export type Overwritten = Static<typeof Overwritten>

export const ImportResult = Type.Object(
  {
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    overwritten: Type.Optional(
      Type.Array(Overwritten, {
        description:
          'With `dryRun`: values of existing devices that would change or be removed, at most 100 fields',
      }),
    ),
    failed: Type.Array(ImportFailure, {
      description: 'Lines that were not stored, at most 10,000 of them',
    }),
    failedTotal: Type.Integer({ description: 'How many lines failed' }),
  },
  { title: 'ImportResult' },
)
export type ImportResult = Static<typeof ImportResult>
