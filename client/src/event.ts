// Events: what changed. A type tells which data comes with it.

import type { AnyEvent, DeviceEventData, Execution, ExecutionEventData, RunEventData } from './schemas.ts'

export type ExecState = Execution['execState']

export type EventType = AnyEvent['type']
export type RunEventType = Extract<EventType, `run.${string}`>
export type ExecutionEventType = Extract<EventType, `execution.${string}`>
export type DeviceEventType = Extract<EventType, `device.${string}`>
/** What a filter may name: one type, or all of a kind. */
export type EventPattern = EventType | 'run.*' | 'execution.*' | 'device.*'

type EventOf<Type extends EventType, Data> = Omit<AnyEvent, 'type' | 'data'> & { type: Type; data: Data }
export type JobcastEvent =
  | EventOf<RunEventType, RunEventData>
  | EventOf<ExecutionEventType, ExecutionEventData>
  | EventOf<DeviceEventType, DeviceEventData>
