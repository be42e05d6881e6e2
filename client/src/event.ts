// Events, which report changes. The type determines the data.

import type { EventDataByNoun, eventPatterns, eventTypes } from './event-types.ts'
import type { AnyEvent, Execution } from './schemas.ts'

export type ExecState = Execution['execState']

export type EventType = (typeof eventTypes)[number]
/** Valid filters: all types of a noun, or one type. */
export type EventPattern = (typeof eventPatterns)[number]
/** The subject of events: `run` of `run.created`. */
export type EventNoun = keyof EventDataByNoun
export type EventTypeOf<Noun extends EventNoun> = Extract<EventType, `${Noun}.${string}`>
export type EventOf<Noun extends EventNoun> = Omit<AnyEvent, 'type' | 'data'> & {
  type: EventTypeOf<Noun>
  data: EventDataByNoun[Noun]
}
export type JobcastEvent = { [Noun in EventNoun]: EventOf<Noun> }[EventNoun]
