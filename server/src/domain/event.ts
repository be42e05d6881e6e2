// Events as stored: what changed, in order.

import type { EventType, JobcastEvent } from '@jobcast/contract'
import { matchesPatterns, toInstant } from '@jobcast/contract/words'

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
}

/** Whether the event matches, judged by its own data. Which devices a new run has, only the store knows. */
export function passes({ type, data }: Pick<StoredEvent, 'type' | 'data'>, filter: EventFilter): boolean {
  const { types = [], runId, jobName, deviceId } = filter
  if (!matchesPatterns(type, types)) return false
  if (runId !== undefined && !('runId' in data && data.runId === runId)) return false
  if (jobName !== undefined && !('jobName' in data && data.jobName === jobName)) return false
  return deviceId === undefined || !('deviceId' in data) || data.deviceId === deviceId
}

/** What the event is about. Events of the same subject are delivered in order. */
export function subjectOf({ data }: Pick<StoredEvent, 'data'>): string {
  if ('jobExecutionId' in data) return `execution ${data.jobExecutionId}`
  if ('runId' in data) return `run ${data.runId}`
  return `device ${data.deviceId}`
}

/** As the stream and the webhooks send it. */
export function toWireEvent({ eventId, type, at, data }: StoredEvent): JobcastEvent {
  return { eventId, type, timestamp: toInstant(at), data: withTransport(data) } as JobcastEvent
}

/** Events stored before `door` was renamed to `transport` still have the old field. */
function withTransport(data: StoredEvent['data']): StoredEvent['data'] {
  if (!('door' in data)) return data
  const { door: transport, ...rest } = data as typeof data & { door: string }
  return { ...rest, transport }
}
