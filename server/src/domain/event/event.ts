// Events as stored: what changed, in order.

import type { EventType, JobcastEvent } from '@jobcast/contract'
import { type AccessKind, accessKinds, kindOf, matchesPatterns, toInstant } from '@jobcast/contract/words'

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
  /** Events of these kinds do not match. */
  hiddenKinds?: readonly AccessKind[]
}

/** Whether the event matches, judged by its own data. Which devices a new run has, only the store knows. */
export function passes({ type, data }: Pick<StoredEvent, 'type' | 'data'>, filter: EventFilter): boolean {
  const { types = [], runId, jobName, deviceId, hiddenKinds = [] } = filter
  if (!matchesPatterns(type, types)) return false
  if (isAccess(type)) {
    // They belong to no run, job or device.
    if (runId !== undefined || jobName !== undefined || deviceId !== undefined) return false
    return !hiddenKinds.includes(kindOf(type) as AccessKind)
  }
  if (runId !== undefined && !('runId' in data && data.runId === runId)) return false
  if (jobName !== undefined && !('jobName' in data && data.jobName === jobName)) return false
  return deviceId === undefined || !('deviceId' in data) || data.deviceId === deviceId
}

/** What the event is about. Events of the same subject are delivered in order. */
export function subjectOf({ data }: Pick<StoredEvent, 'data'>): string {
  if ('scheduleName' in data) return `schedule ${data.scheduleName}`
  if ('jobExecutionId' in data) return `execution ${data.jobExecutionId}`
  if ('runId' in data) return `run ${data.runId}`
  if ('deviceId' in data) return `device ${data.deviceId}`
  if ('sessionId' in data) return `session ${data.sessionId}`
  if ('keyId' in data) return `key ${data.keyId}`
  if ('enrollmentId' in data) return `enrollment ${data.enrollmentId}`
  if ('reason' in data) return 'fleet'
  if ('webhookName' in data) return `webhook ${data.webhookName}`
  return `owner ${data.ownerId}`
}

/** About who has access, not about what devices do. */
function isAccess(type: string): boolean {
  return (accessKinds as readonly string[]).includes(kindOf(type))
}

/** As the stream and the webhooks send it. */
export function toWireEvent({ eventId, type, at, data }: StoredEvent): JobcastEvent {
  return { eventId, type, timestamp: toInstant(at), data } as JobcastEvent
}
