// An execution is one job on one device; a run is all executions of one trigger call.

import Type, { type Static } from 'typebox'
import { ApprovalDecision } from './approval.ts'
import { Counts } from './counts.ts'
import { execStates } from './exec-state.ts'
import { Page, PageQuery } from './page.ts'
import { shownPriority } from './priority.ts'
import { Where } from './resources/groups.ts'
import { JobVersionNumber } from './resources/jobs.ts'
import { shownWindow } from './resources/windows.ts'
import { type RetryVersion, retryVersions } from './retry-version.ts'
import { Rollout, RolloutProgress } from './rollout.ts'
import { type RolloutState, rolloutStates } from './rollout-state.ts'
import { GivenInstant, Instant, Name, orNull, Prose } from './text.ts'

export { Counts, execStates }
export type ExecState = (typeof execStates)[number]
export const ExecState = Type.Union(
  execStates.map((state) => Type.Literal(state)),
  { type: 'string', enum: [...execStates] },
)

/** The body of the trigger. Unknown fields are ignored here and rejected everywhere else. */
export const TriggerRequest = Type.Object(
  {
    jobName: Type.String({ ...Name, description: "Name of one of the caller's jobs" }),
    deviceIds: Type.Array(Name, {
      minItems: 1,
      description: "One or more of the caller's devices; a device listed twice gets one execution",
    }),
  },
  { title: 'TriggerRequest' },
)
export type TriggerRequest = Static<typeof TriggerRequest>

const triggeredFields = {
  jobExecutionId: Type.Integer({
    description: 'Identifies the execution; always increasing, below 2^53',
    examples: [1],
  }),
  jobName: Type.String({ examples: ['restart'] }),
  deviceId: Type.String({ examples: ['kiosk-1'] }),
  deviceName: Type.String({
    description: 'The name the device had when the job was triggered',
    examples: ['Kiosk 1, Berlin'],
  }),
  execState: Type.Unsafe<ExecState>(ExecState),
  launchedAt: Type.String({
    description: 'UTC in whole seconds, without offset',
    examples: ['2026-11-15T09:30:00'],
  }),
}

/** The six fields in the response to a trigger, in this order. */
export const TriggeredExecution = Type.Object(triggeredFields, {
  title: 'TriggeredExecution',
})
export type TriggeredExecution = Static<typeof TriggeredExecution>

export const Execution = Type.Object(
  {
    ...triggeredFields,
    runId: Type.Integer({ description: 'The run (trigger call) this execution belongs to' }),
    priority: Type.Integer({ ...shownPriority }),
    attempt: Type.Integer(),
    versionNumber: Type.Integer({ description: 'Increases by one with every change' }),
    startedAt: orNull(Instant),
    finishedAt: orNull(Instant),
    notifiedAt: orNull(Instant, { description: 'When it was first sent to the device' }),
    deliveredAt: orNull(Instant, { description: 'When the device acknowledged it' }),
    notBefore: orNull(Instant, {
      description:
        'It is not offered to the device before this: it waits for a retry, or the device said not now',
    }),
    statusDetails: Type.Record(Type.String(), Type.String()),
    result: Type.Unknown({ description: 'Result reported by the device; null until then' }),
    outputBytes: Type.Integer({ description: 'Bytes of output stored' }),
    outputCut: Type.Boolean({ description: 'The output was longer than what is stored' }),
  },
  { title: 'Execution' },
)
export type Execution = Static<typeof Execution>

const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const ExecutionParams = Type.Object({ jobExecutionId: id })
export const RunParams = Type.Object({ runId: id })

/** A query parameter that can be repeated, or have values separated by commas. */
const stateList = (description: string) =>
  Type.Array(Type.Unsafe<ExecState>(ExecState), {
    minItems: 1,
    maxItems: execStates.length,
    description: `${description}: repeat the parameter, or separate states by commas`,
  })

const given = (description: string) => Type.Optional(Type.String({ ...GivenInstant, description }))
const timeFilters = (what: string) => ({
  launchedAfter: given('Launched at this instant or later'),
  launchedBefore: given('Launched before this instant'),
  finishedAfter: given(`The ${what} ended at this instant or later`),
  finishedBefore: given(`The ${what} ended before this instant`),
})

export const ExecutionQuery = Type.Object(
  {
    ...PageQuery.properties,
    jobName: Type.Optional(Name),
    deviceId: Type.Optional(Name),
    execState: Type.Optional(stateList('Only executions in one of these states')),
    runId: Type.Optional(id),
    ...timeFilters('execution'),
  },
  { additionalProperties: false },
)
export type ExecutionQuery = Static<typeof ExecutionQuery>

export const CancelRequest = Type.Object(
  { force: Type.Optional(Type.Boolean({ description: 'Do not wait for the device to confirm' })) },
  { title: 'CancelRequest', additionalProperties: false, examples: [{}] },
)
export type CancelRequest = Static<typeof CancelRequest>

export const Run = Type.Object(
  {
    runId: Type.Integer(),
    jobName: Type.String(),
    version: Type.Integer({ description: 'The version of the job that it uses' }),
    parameters: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values of the parameters of the job, defaults included; secrets are masked',
    }),
    launchedAt: triggeredFields.launchedAt,
    finishedAt: orNull(Instant, { description: 'When its last execution ended; null until then' }),
    total: Type.Integer(),
    counts: Counts,
    finished: Type.Boolean({ description: 'True once every execution has ended' }),
    retryOf: orNull(Type.Integer(), {
      description: 'The run whose unsuccessful executions this run retries',
    }),
    rollbackOf: orNull(Type.Integer(), {
      description: 'The run that this run rolls back to an earlier version',
    }),
    createdBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
      description:
        'Who triggered it: `key:<keyId>`, or `user:<subject>` for a person. Null if this was not recorded',
    }),
    createdByName: orNull(Type.String({ examples: ['ci'] }), {
      description: 'The name of that key',
    }),
    where: orNull(Type.String(), {
      description: 'The selector by which its devices were chosen; null for a list of devices',
    }),
    matched: orNull(Type.Integer(), { description: 'How many devices the selector matched' }),
    note: orNull(Type.String()),
    scheduleName: orNull(Type.String(), {
      description: 'The schedule that created it; null if it was triggered by a call',
    }),
    scheduledFor: orNull(Instant, { description: 'The occurrence of the schedule that it was created for' }),
    rollout: orNull(RolloutProgress, {
      description: 'The progress of its rollout; null: it was released immediately',
    }),
    window: shownWindow,
    approvals: Type.Array(ApprovalDecision, {
      description:
        'Who approved or denied it, in order; those that came before a change of the run do not count any more',
    }),
    priority: Type.Integer({ ...shownPriority }),
    replaces: Type.Boolean({
      description: 'It replaces what waits of the same job on its devices, or has replaced it',
    }),
  },
  { title: 'Run' },
)
export type Run = Static<typeof Run>

export const RetryRequest = Type.Object(
  {
    deviceIds: Type.Optional(
      Type.Array(Name, {
        minItems: 1,
        description: 'Only these devices; default: all devices whose execution was unsuccessful',
      }),
    ),
    version: Type.Optional(
      Type.Unsafe<RetryVersion>({
        type: 'string',
        enum: [...retryVersions],
        description: 'SAME (default): the version of the job that the run used; NEWEST: the current one',
      }),
    ),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({
        ...Rollout,
        description:
          'How it is released; default: like the run, or as the job defines if the run had no rollout',
      }),
    ),
  },
  { title: 'RetryRequest', additionalProperties: false, examples: [{}] },
)
export type RetryRequest = Static<typeof RetryRequest>

export const RollbackRequest = Type.Object(
  {
    toVersion: Type.Optional(
      Type.Integer({
        ...JobVersionNumber,
        description: 'Version of the job; by default, the version before the one that the run used',
      }),
    ),
    deviceIds: Type.Optional(
      Type.Array(Name, {
        minItems: 1,
        description: 'Only these of the devices that the run was released to',
      }),
    ),
    where: Type.Optional(
      Type.Unsafe<string>({ ...Where, description: 'Only those of them that match this selector' }),
    ),
    rollout: Type.Optional(
      Type.Unsafe<Rollout>({ ...Rollout, description: 'How it is released; default: all at once' }),
    ),
    note: Type.Optional(
      Type.String({ ...Prose, maxLength: 500, description: 'Why, for whoever looks at it later' }),
    ),
    again: Type.Optional(
      Type.Boolean({ description: 'Also if the run was rolled back before (otherwise J-317)' }),
    ),
  },
  { title: 'RollbackRequest', additionalProperties: false, examples: [{}, { note: 'Boot loops' }] },
)
export type RollbackRequest = Static<typeof RollbackRequest>

export const RunQuery = Type.Object(
  {
    ...PageQuery.properties,
    jobName: Type.Optional(Name),
    version: Type.Optional(
      Type.Integer({
        ...JobVersionNumber,
        description: 'Only runs of this version of the job; needs `jobName`',
      }),
    ),
    finished: Type.Optional(
      Type.Boolean({ description: 'Only runs that have (true) or have not (false) finished' }),
    ),
    scheduleName: Type.Optional(Type.String({ ...Name, description: 'Only runs of this schedule' })),
    rolloutState: Type.Optional(
      Type.Unsafe<RolloutState>({
        type: 'string',
        enum: [...rolloutStates],
        description: 'Only runs whose rollout is in this state; never one without a rollout',
      }),
    ),
    execState: Type.Optional(stateList('Only runs that have an execution in one of these states')),
    ...timeFilters('run'),
  },
  { additionalProperties: false },
)
export type RunQuery = Static<typeof RunQuery>

export const OutputQuery = Type.Object(
  {
    offset: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'First byte to return',
    }),
    attempt: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Each attempt has its own output; default: the latest attempt',
      }),
    ),
    follow: Type.Boolean({
      default: false,
      description: 'Keep the response open until the execution has ended',
    }),
    download: Type.Boolean({ default: false, description: 'Send it as a file attachment' }),
  },
  { additionalProperties: false },
)
export type OutputQuery = Static<typeof OutputQuery>

export const ExecutionPage = Page(Execution)
export const RunPage = Page(Run)
