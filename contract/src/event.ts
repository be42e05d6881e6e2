// Events: what changed, in order. The stream and the webhooks carry the same events.

import Type, { type Static } from 'typebox'
import { Scope } from './api-key.ts'
import { AttributeValue } from './attributes.ts'
import { Counts } from './counts.ts'
import {
  type DeviceEventType,
  type EnrollmentEventType,
  type EventType,
  type ExecutionEventType,
  eventPatterns,
  eventTypes,
  type FleetEventType,
  type KeyEventType,
  type OwnerEventType,
  type RunEventType,
  type ScheduleEventType,
  type SessionEventType,
  type WebhookEventType,
} from './event-type.ts'
import { ExecState } from './execution.ts'
import { ScheduleEventData } from './resources/schedules.ts'
import { GivenInstant, Instant, mustBe, Name, orNull } from './text.ts'

export * from './event-type.ts'

const state = Type.Unsafe<ExecState>(ExecState)

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
      Type.String({ description: 'Who did it: `key:<keyId>`, or `service` where it was a rule or a gate' }),
    ),
    comment: Type.Optional(Type.String()),
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
      '`deviceName`, `tags` and `attributes` with `device.created` and `device.updated`; `reportedAttributes` alone with ' +
      '`device.updated` when the device has reported them; `transport` with `device.online` and `device.offline`',
  },
)
export type DeviceEventData = Static<typeof DeviceEventData>

export const FleetEventData = Type.Object(
  {
    reason: Type.String({ description: 'Why it was frozen' }),
    until: orNull(Instant, { description: 'When it ends by itself' }),
    principal: Type.String(),
  },
  { title: 'FleetEventData' },
)
export type FleetEventData = Static<typeof FleetEventData>

const principal = Type.String({
  description: 'Who did it: `key:<keyId>`, `operator`, or `service`',
  examples: ['key:3f9aZ0qLxw'],
})

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

export type AccessEventData =
  | KeyEventData
  | EnrollmentEventData
  | WebhookEventData
  | SessionEventData
  | OwnerEventData

export const JobcastEvent = Type.Object(
  {
    eventId: Type.Integer({ description: 'Always increasing, below 2^53; ids may have gaps' }),
    type: Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] }),
    timestamp: Instant,
    data: Type.Union([
      RunEventData,
      ExecutionEventData,
      DeviceEventData,
      FleetEventData,
      ScheduleEventData,
      KeyEventData,
      EnrollmentEventData,
      WebhookEventData,
      SessionEventData,
      OwnerEventData,
    ]),
  },
  { title: 'Event' },
)

type EventOf<T extends EventType, Data> = { eventId: number; type: T; timestamp: string; data: Data }
export type JobcastEvent =
  | EventOf<RunEventType, RunEventData>
  | EventOf<ExecutionEventType, ExecutionEventData>
  | EventOf<DeviceEventType, DeviceEventData>
  | EventOf<FleetEventType, FleetEventData>
  | EventOf<ScheduleEventType, ScheduleEventData>
  | EventOf<KeyEventType, KeyEventData>
  | EventOf<EnrollmentEventType, EnrollmentEventData>
  | EventOf<WebhookEventType, WebhookEventData>
  | EventOf<SessionEventType, SessionEventData>
  | EventOf<OwnerEventType, OwnerEventData>

const eventId = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const pattern = `(?:${eventPatterns.map((each) => each.replaceAll('.', '\\.').replaceAll('*', '\\*')).join('|')})`

export const EventQuery = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        ...eventId,
        description:
          'Start after this event; 0 starts with the oldest retained event. The Last-Event-ID header takes precedence. ' +
          'Without either, the stream starts with new events',
      }),
    ),
    since: Type.Optional(
      Type.String({
        ...GivenInstant,
        description: 'Start with retained events from this instant on; `after` takes precedence',
      }),
    ),
    types: Type.Optional(
      Type.String({
        pattern: `^${pattern}(?:,${pattern})*$`,
        [mustBe]: `event types separated by commas, of ${eventPatterns.join(', ')}`,
        maxLength: 2000,
        description: 'Only these types, separated by commas; `execution.*` matches all types of a kind',
        examples: ['execution.failed,run.finished'],
      }),
    ),
    runId: Type.Optional(Type.Integer({ ...eventId, minimum: 1 })),
    jobName: Type.Optional(Name),
    deviceId: Type.Optional(Name),
  },
  { additionalProperties: false },
)
export type EventQuery = Static<typeof EventQuery>
