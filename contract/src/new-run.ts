// POST /job/api/runs: a run on devices that are listed or selected, and the plan of one.

import Type, { type Static } from 'typebox'
import { Where } from './resources/groups.ts'
import { JobVersionNumber } from './resources/jobs.ts'
import { WindowName } from './resources/windows.ts'
import { Rollout } from './rollout.ts'
import { GivenInstant, mustBe, Name, Prose } from './text.ts'

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

export const NewRun = Type.Object(
  {
    jobName: Name,
    targets: Targets,
    version: Type.Optional(
      Type.Integer({ ...JobVersionNumber, description: 'Of the job; default: the current one' }),
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
          'What happens with devices that lack an attribute which the document needs: REFUSE (default) refuses the ' +
          'call (J-506), SKIP leaves them out',
      }),
    ),
    note: Type.Optional(
      Type.String({ ...Prose, maxLength: 500, description: 'Why, for whoever looks at it later' }),
    ),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({
        ...Rollout,
        description: "How it is released; default: the job's, or all at once",
      }),
    ),
    approval: Type.Optional(
      Type.Boolean({ description: "Nothing is released before another key approves it; default: the job's" }),
    ),
    startAt: Type.Optional(
      Type.String({
        ...GivenInstant,
        description: 'Nothing of it is released before this instant, at most a year from now; default: now',
      }),
    ),
    window: Type.Optional(
      Type.Unsafe<string>({
        ...WindowName,
        description: "Name of the window in which it is offered to devices; default: the job's",
      }),
    ),
    ignoreWindows: Type.Optional(
      Type.Boolean({
        description: "Offer it at any time, whatever the job's window; needs MANAGE and a `note`",
      }),
    ),
    planId: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._-]{1,100}$',
        [mustBe]: 'the planId of a dry run',
        description: 'Of a dry run: the call is refused (J-505) if other devices are selected now',
      }),
    ),
  },
  {
    title: 'NewRun',
    additionalProperties: false,
    examples: [{ jobName: 'restart', targets: { where: 'tag=kiosk and fw<2.4.0' }, note: 'Ticket 4711' }],
  },
)
export type NewRun = Static<typeof NewRun>

export const DryRunQuery = Type.Object(
  {
    dryRun: Type.Boolean({ default: false, description: 'Answer with the plan, and create nothing' }),
  },
  { additionalProperties: false },
)

export const RunPlan = Type.Object(
  {
    planId: Type.String({ description: 'Valid for 10 minutes' }),
    total: Type.Integer({ description: 'How many devices are selected' }),
    online: Type.Integer(),
    offline: Type.Integer(),
    busy: Type.Integer({ description: 'How many of them are carrying out an execution' }),
    waves: Type.Array(
      Type.Object({
        size: Type.Integer(),
        sample: Type.Array(Type.String(), { description: 'deviceIds of the first 20' }),
      }),
      { description: 'In the order of release' },
    ),
    document: Type.Unknown({
      description: 'What the first device would get, secrets masked; null if nothing can be made of it',
    }),
    problems: Type.Array(Type.String(), { description: 'What stands against it, in sentences' }),
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

export const ImportResult = Type.Object(
  {
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    failed: Type.Array(ImportFailure, {
      description: 'Lines of which nothing was stored, at most 10,000 of them',
    }),
    failedTotal: Type.Integer({ description: 'How many lines failed' }),
  },
  { title: 'ImportResult' },
)
export type ImportResult = Static<typeof ImportResult>
