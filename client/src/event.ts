// Events: what changed. A type tells which data comes with it.

import type {
  AnyEvent,
  DeviceEventData,
  EnrollmentEventData,
  Execution,
  ExecutionEventData,
  FleetEventData,
  KeyEventData,
  OwnerEventData,
  RunEventData,
  ScheduleEventData,
  SessionEventData,
  WebhookEventData,
} from './schemas.ts'

export type ExecState = Execution['execState']

export type EventType = AnyEvent['type']
export type RunEventType = Extract<EventType, `run.${string}`>
export type ExecutionEventType = Extract<EventType, `execution.${string}`>
export type DeviceEventType = Extract<EventType, `device.${string}`>
export type FleetEventType = Extract<EventType, `fleet.${string}`>
export type ScheduleEventType = Extract<EventType, `schedule.${string}`>
export type KeyEventType = Extract<EventType, `key.${string}`>
export type EnrollmentEventType = Extract<EventType, `enrollment.${string}`>
export type WebhookEventType = Extract<EventType, `webhook.${string}`>
export type SessionEventType = Extract<EventType, `session.${string}`>
export type OwnerEventType = Extract<EventType, `owner.${string}`>
/** What a filter may name: one type, or all of a kind. */
export type EventPattern =
  | EventType
  | 'run.*'
  | 'execution.*'
  | 'device.*'
  | 'fleet.*'
  | 'schedule.*'
  | 'key.*'
  | 'enrollment.*'
  | 'webhook.*'
  | 'session.*'
  | 'owner.*'

type EventOf<Type extends EventType, Data> = Omit<AnyEvent, 'type' | 'data'> & { type: Type; data: Data }
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
