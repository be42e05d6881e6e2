// Events as they are kept: what changed, in the order in which it did.

import type { EventType, JobcastEvent } from '@jobcast/contract'
import { matchesPatterns, toInstant } from '@jobcast/contract/words'

/** `data` is as it stands on the wire. */
export type StoredEvent = {
  eventId: number
  type: EventType
  at: number
  data: JobcastEvent['data']
}

/** What is left out lets all through; `types` also names kinds, as `execution.*`. */
export type EventFilter = {
  types?: readonly string[]
  runId?: number
  jobName?: string
  deviceId?: string
}

/** Whether it passes, as far as the event itself tells. Which devices a new run has, only the store knows. */
export function passes({ type, data }: Pick<StoredEvent, 'type' | 'data'>, filter: EventFilter): boolean {
  const { types = [], runId, jobName, deviceId } = filter
  if (!matchesPatterns(type, types)) return false
  if (runId !== undefined && !('runId' in data && data.runId === runId)) return false
  if (jobName !== undefined && !('jobName' in data && data.jobName === jobName)) return false
  return deviceId === undefined || !('deviceId' in data) || data.deviceId === deviceId
}

/** What it tells of. Events of the same subject reach a receiver in their order. */
export function subjectOf({ data }: Pick<StoredEvent, 'data'>): string {
  if ('jobExecutionId' in data) return `execution ${data.jobExecutionId}`
  if ('runId' in data) return `run ${data.runId}`
  return `device ${data.deviceId}`
}

/** As the stream and the webhooks send it. */
export function toWireEvent({ eventId, type, at, data }: StoredEvent): JobcastEvent {
  return { eventId, type, timestamp: toInstant(at), data: withTransport(data) } as JobcastEvent
}

/** Events written before `door` was renamed to `transport` are kept as they were. */
function withTransport(data: StoredEvent['data']): StoredEvent['data'] {
  if (!('door' in data)) return data
  const { door: transport, ...rest } = data as typeof data & { door: string }
  return { ...rest, transport }
}
