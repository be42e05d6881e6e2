// Events: what changed. A type tells which data comes with it.

import type { EventDataByNoun, eventPatterns, eventTypes } from './event-types.ts'
import type { AnyEvent, Execution } from './schemas.ts'

export type ExecState = Execution['execState']

export type EventType = (typeof eventTypes)[number]
/** What a filter may name: all types of a noun, or one type. */
export type EventPattern = (typeof eventPatterns)[number]
/** What events are about: `run` of `run.created`. */
export type EventNoun = keyof EventDataByNoun
export type EventTypeOf<Noun extends EventNoun> = Extract<EventType, `${Noun}.${string}`>
export type EventOf<Noun extends EventNoun> = Omit<AnyEvent, 'type' | 'data'> & {
  type: EventTypeOf<Noun>
  data: EventDataByNoun[Noun]
}
export type JobcastEvent = { [Noun in EventNoun]: EventOf<Noun> }[EventNoun]
