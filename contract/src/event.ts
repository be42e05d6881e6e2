// Events: what changed, in order. The stream and the webhooks carry the same events.

import Type, { type Static } from 'typebox'
import {
  type DeviceEventType,
  type EventType,
  type ExecutionEventType,
  eventPatterns,
  eventTypes,
  type RunEventType,
} from './event-type.ts'
import { Counts, ExecState } from './execution.ts'
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
  },
  { title: 'RunEventData', description: '`counts` is present in `run.finished` only' },
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
    transport: Type.Optional(
      Type.String({ description: 'Transport by which the device connected or disconnected' }),
    ),
  },
  {
    title: 'DeviceEventData',
    description:
      '`deviceName` and `tags` with `device.created` and `device.updated`; `transport` with `device.online` and `device.offline`',
  },
)
export type DeviceEventData = Static<typeof DeviceEventData>

export const JobcastEvent = Type.Object(
  {
    eventId: Type.Integer({ description: 'Always increasing, below 2^53; ids may have gaps' }),
    type: Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] }),
    timestamp: Instant,
    data: Type.Union([RunEventData, ExecutionEventData, DeviceEventData]),
  },
  { title: 'Event' },
)

type EventOf<T extends EventType, Data> = { eventId: number; type: T; timestamp: string; data: Data }
export type JobcastEvent =
  | EventOf<RunEventType, RunEventData>
  | EventOf<ExecutionEventType, ExecutionEventData>
  | EventOf<DeviceEventType, DeviceEventData>

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
        maxLength: 1000,
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
