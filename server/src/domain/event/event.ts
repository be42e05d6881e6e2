// An event: a record of a change, written to the log in the transaction of the change. Ids only grow;
// streams and webhooks read the log after the last id that they have sent, so nothing is sent from memory.
//
// Read next: follow-events.ts, the stream; visible-events.ts, which events a caller may see; progress-events.ts, how
// often progress becomes an event; trace-parent.ts, the trace that a run belongs to. Webhooks are in webhook/.

import type { EventType, JobcastEvent } from '@jobcast/contract'
import { type EventNoun, eventMap, matchesPatterns, nounOf, toInstant } from '@jobcast/contract/words'
import { matchesJob } from '../access/matches-job.ts'

/** `data` has the wire format. */
export type StoredEvent = {
  eventId: number
  type: EventType
  at: number
  data: JobcastEvent['data']
}

/** A missing field matches everything; `types` also takes patterns such as `execution.*`. */
export type EventFilter = {
  types?: readonly string[]
  runId?: number
  jobName?: string
  deviceId?: string
  /** Events of these nouns do not match. */
  hiddenNouns?: readonly EventNoun[]
  /** Events that name a job match only if it is one of these (matchesJob). */
  jobs?: readonly string[]
}

/** Whether the event's own data match. The devices of a new run are not in its event; the store filters by them. */
export function passes({ type, data }: Pick<StoredEvent, 'type' | 'data'>, filter: EventFilter): boolean {
  const noun = nounOf(type)
  const { types = [], hiddenNouns = [] } = filter
  if (!matchesPatterns(type, types) || hiddenNouns.includes(noun)) return false
  const filters: readonly string[] = eventMap[noun].filters
  const fields: Readonly<Record<string, unknown>> = data
  const { jobName } = fields
  const isOfJob = filters.includes('jobName')
  if (filter.jobs && isOfJob && !(typeof jobName === 'string' && matchesJob(filter.jobs, jobName)))
    return false
  return (['runId', 'jobName', 'deviceId'] as const).every((name) => {
    const wanted = filter[name]
    if (wanted === undefined) return true
    if (!filters.includes(name)) return false
    return fields[name] === wanted || (noun === 'run' && name === 'deviceId')
  })
}

/** The subject of an event. Events of the same subject are delivered in order. */
export function subjectOf({ type, data }: Pick<StoredEvent, 'type' | 'data'>): string {
  const noun = nounOf(type)
  const { id } = eventMap[noun]
  const fields: Readonly<Record<string, unknown>> = data
  return id === null ? noun : `${noun} ${fields[id]}`
}

/** As the stream and the webhooks send it. */
export function toWireEvent({ eventId, type, at, data }: StoredEvent): JobcastEvent {
  return { eventId, type, timestamp: toInstant(at), data } as JobcastEvent
}
