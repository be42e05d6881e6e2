// Events: an ordered record of changes. The stream and the webhooks send the same events.

import Type, { type Static } from 'typebox'
import { type EventDataOf, eventData } from './event-data.ts'
import {
  type EventNoun,
  type EventType,
  type EventTypeOf,
  eventNouns,
  eventPatterns,
  eventTypes,
} from './event-type.ts'
import { GivenInstant, Instant, mustBe, Name } from './text.ts'

export * from './event-data.ts'
export * from './event-type.ts'

export const JobcastEvent = Type.Object(
  {
    eventId: Type.Integer({ description: 'Always increasing, below 2^53; ids may have gaps' }),
    type: Type.Unsafe<EventType>({ type: 'string', enum: [...eventTypes] }),
    timestamp: Instant,
    data: Type.Union(eventNouns.map((noun) => eventData[noun])),
  },
  { title: 'Event' },
)

export type EventOf<Noun extends EventNoun> = {
  eventId: number
  type: EventTypeOf<Noun>
  timestamp: string
  data: EventDataOf<Noun>
}
export type JobcastEvent = { [Noun in EventNoun]: EventOf<Noun> }[EventNoun]

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
        description: 'Only these types, separated by commas; `execution.*` matches all types of a noun',
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
