// The data of events, one schema for each noun of event-type.ts.

import Type, { type Static, type TInteger, type TObject, type TString } from 'typebox'
import { Scope } from './api-key.ts'
import { AttributeValue } from './attributes.ts'
import { AuditCheckpoint } from './audit-entry.ts'
import { Counts } from './counts.ts'
import type { EventNoun, eventMap } from './event-type.ts'
import { ExecState } from './execution.ts'
import { DeviceContent } from './resources/devices.ts'
import { SchedulePauseRule } from './schedule-pause.ts'
import { Instant, orNull } from './text.ts'

const state = Type.Unsafe<ExecState>(ExecState)
const principal = Type.String({
  description: 'Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`',
  examples: ['key:3f9aZ0qLxw'],
})
const isNew = Type.Boolean({ description: 'Whether it was created by this change' })

export const RunEventData = Type.Object(
  {
    runId: Type.Integer(),
    jobName: Type.String(),
    total: Type.Integer({ description: 'Number of executions; all start as PENDING' }),
    retryOf: orNull(Type.Integer(), {
      description: 'The run whose unsuccessful executions this run retries',
    }),
    counts: Type.Optional(Counts),
    wave: Type.Optional(Type.Integer({ description: 'The current wave, from 1' })),
    released: Type.Optional(
      Type.Integer({ description: 'How many executions may be offered to their devices by now' }),
    ),
    because: Type.Optional(orNull(Type.String())),
    principal: Type.Optional(
      Type.String({
        description:
          'Who did it: `key:<keyId>`, `user:<subject>` for a person, or `service` where it was a rule or a gate',
      }),
    ),
    comment: Type.Optional(Type.String()),
    missing: Type.Optional(
      Type.Integer({ description: 'Of `run.approved`: how many more approvals the run needs' }),
    ),
  },
  {
    title: 'RunEventData',
    description:
      '`counts` is present in `run.finished` only; `wave` and what follows in events of a rollout only',
  },
)
export type RunEventData = Static<typeof RunEventData>

export const ExecutionEventData = Type.Object(
  {
    jobExecutionId: Type.Integer(),
    runId: Type.Integer(),
    jobName: Type.String(),
    deviceId: Type.String(),
    from: state,
    execState: state,
    attempt: Type.Integer(),
    versionNumber: Type.Integer({ description: 'Version after this change' }),
    cause: Type.String({ description: 'What caused the change, as in the history', examples: ['fail'] }),
    actor: Type.String({
      description: 'Who caused it: `key <keyId>`, `device` or `clock`',
      examples: ['device'],
    }),
    statusDetails: Type.Record(Type.String(), Type.String(), {
      description: 'Details the device reported with this change',
    }),
  },
  { title: 'ExecutionEventData' },
)
export type ExecutionEventData = Static<typeof ExecutionEventData>

const otherDeviceFields = Type.Omit(DeviceContent, ['deviceName', 'tags', 'attributes', 'timeZone', 'window'])
export const DeviceEventData = Type.Object(
  {
    deviceId: Type.String(),
    deviceName: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
    attributes: Type.Optional(
      Type.Record(Type.String(), AttributeValue, {
        description: 'Attributes that its owner has set, with its time zone as `timeZone`; absent: none',
      }),
    ),
    window: Type.Optional(Type.String({ description: 'Window of the device itself; absent: none' })),
    ...otherDeviceFields.properties,
    reportedAttributes: Type.Optional(
      Type.Record(Type.String(), orNull(AttributeValue), {
        description: 'Attributes that the device has reported and that have changed; null: removed',
      }),
    ),
    transport: Type.Optional(
      Type.String({ description: 'Transport by which the device connected or disconnected' }),
    ),
  },
  {
    title: 'DeviceEventData',
    description:
      '`deviceName`, `tags`, `attributes` and `window` with `device.created` and `device.updated`; `reportedAttributes` alone with ' +
      '`device.updated` when the device has reported them; `transport` with `device.online` and `device.offline`',
  },
)
export type DeviceEventData = Static<typeof DeviceEventData>

export const FleetEventData = Type.Object(
  {
    reason: Type.String({ description: 'Why it was frozen' }),
    until: orNull(Instant, { description: 'When it ends automatically' }),
    principal,
  },
  { title: 'FleetEventData' },
)
export type FleetEventData = Static<typeof FleetEventData>

export const JobEventData = Type.Object(
  {
    jobName: Type.String(),
    version: Type.Integer({ description: 'The current version; of a deleted job, the last one' }),
    isNew: Type.Optional(isNew),
    principal,
  },
  { title: 'JobEventData', description: '`isNew` with `job.changed`' },
)
export type JobEventData = Static<typeof JobEventData>

export const GroupEventData = Type.Object(
  { groupName: Type.String(), isNew: Type.Optional(isNew), principal },
  { title: 'GroupEventData', description: '`isNew` with `group.changed`' },
)
export type GroupEventData = Static<typeof GroupEventData>

export const WindowEventData = Type.Object(
  { windowName: Type.String(), isNew: Type.Optional(isNew), principal },
  { title: 'WindowEventData', description: '`isNew` with `window.changed`' },
)
export type WindowEventData = Static<typeof WindowEventData>

export const SecretEventData = Type.Object(
  { secretName: Type.String(), isNew: Type.Optional(isNew), principal },
  { title: 'SecretEventData', description: '`isNew` with `secret.changed`. Never the value' },
)
export type SecretEventData = Static<typeof SecretEventData>

export const FileEventData = Type.Object(
  {
    fileName: Type.String(),
    version: Type.String(),
    size: Type.Optional(Type.Integer({ description: 'In bytes' })),
    sha256: Type.Optional(Type.String()),
    principal,
  },
  { title: 'FileEventData', description: '`size` and `sha256` with `file.created`' },
)
export type FileEventData = Static<typeof FileEventData>

export const ScheduleEventData = Type.Object(
  {
    scheduleName: Type.String(),
    jobName: Type.String(),
    scheduledFor: Type.Optional(Instant),
    runId: Type.Optional(orNull(Type.Integer())),
    matched: Type.Optional(Type.Integer({ description: 'How many devices matched' })),
    skipped: Type.Optional(
      Type.Integer({
        description: 'How many of them were skipped because they have an unfinished execution',
      }),
    ),
    count: Type.Optional(Type.Integer({ description: 'How many occurrences were missed' })),
    isMore: Type.Optional(Type.Boolean({ description: 'More occurrences were missed than were counted' })),
    from: Type.Optional(Instant),
    to: Type.Optional(Instant),
    because: Type.Optional(Type.String()),
    rule: Type.Optional(SchedulePauseRule),
    principal,
    isNew: Type.Optional(isNew),
  },
  {
    title: 'ScheduleEventData',
    description:
      '`scheduledFor`, `runId`, `matched` and `skipped` with `schedule.fired`: without `runId` there was no device. ' +
      '`count`, `from` and `to` with `schedule.missed`: the first and the last of the missed occurrences. `because` with ' +
      '`schedule.missed` and `schedule.paused`, `rule` with `schedule.paused`. `isNew` with `schedule.changed`',
  },
)
export type ScheduleEventData = Static<typeof ScheduleEventData>

export const KeyEventData = Type.Object(
  {
    keyId: Type.String(),
    keyName: Type.String(),
    scopes: Type.Array(Scope),
    expiresAt: orNull(Instant),
    principal,
  },
  { title: 'KeyEventData', description: 'Never the key itself' },
)
export type KeyEventData = Static<typeof KeyEventData>

export const EnrollmentEventData = Type.Object(
  { enrollmentId: Type.String(), name: orNull(Type.String()), principal },
  { title: 'EnrollmentEventData', description: 'Never its token' },
)
export type EnrollmentEventData = Static<typeof EnrollmentEventData>

export const webhookChanges = ['content', 'secret', 'paused', 'resumed', 'replayed'] as const
export type WebhookChange = (typeof webhookChanges)[number]

export const WebhookEventData = Type.Object(
  {
    webhookName: Type.String(),
    change: Type.Optional(Type.Unsafe<WebhookChange>({ type: 'string', enum: [...webhookChanges] })),
    principal,
  },
  {
    title: 'WebhookEventData',
    description: '`change` with `webhook.updated`. Never its URL or its secret',
  },
)
export type WebhookEventData = Static<typeof WebhookEventData>

export const SessionEventData = Type.Object(
  { sessionId: Type.String(), keyId: Type.String({ description: 'The key it acts for' }), principal },
  { title: 'SessionEventData' },
)
export type SessionEventData = Static<typeof SessionEventData>

export const OwnerEventData = Type.Object(
  { ownerId: Type.String(), ownerName: Type.String(), principal },
  { title: 'OwnerEventData', description: 'In the log of the owner of the key that created it' },
)
export type OwnerEventData = Static<typeof OwnerEventData>

export const AuditEventData = Type.Object(AuditCheckpoint.properties, {
  title: 'AuditEventData',
  description: 'The checkpoint, as `GET /job/api/audit/checkpoint` returns it',
})
export type AuditEventData = Static<typeof AuditEventData>

/** One schema per noun, with the field that identifies the subject. */
export const eventData = {
  run: RunEventData,
  execution: ExecutionEventData,
  device: DeviceEventData,
  fleet: FleetEventData,
  job: JobEventData,
  group: GroupEventData,
  window: WindowEventData,
  secret: SecretEventData,
  file: FileEventData,
  schedule: ScheduleEventData,
  key: KeyEventData,
  enrollment: EnrollmentEventData,
  webhook: WebhookEventData,
  session: SessionEventData,
  audit: AuditEventData,
  owner: OwnerEventData,
} satisfies { [Noun in keyof typeof eventMap]: DataWith<(typeof eventMap)[Noun]['id']> }
type DataWith<Id> = Id extends string ? TObject<Record<Id, TString | TInteger>> : TObject

export type EventDataOf<Noun extends EventNoun> = Static<(typeof eventData)[Noun]>
