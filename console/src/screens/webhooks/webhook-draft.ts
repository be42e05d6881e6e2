// A webhook being edited, and its events in words.

import type { EventPattern, Webhook, WebhookContent } from '@jobcast/client'

/** Whole kinds first: those are wanted most. */
export const eventPatterns: readonly EventPattern[] = [
  'run.*',
  'execution.*',
  'device.*',
  'run.finished',
  'run.created',
  'execution.failed',
  'execution.timed_out',
  'execution.rejected',
  'execution.expired',
  'execution.succeeded',
  'execution.canceled',
  'execution.in_progress',
  'execution.progress',
  'execution.pending',
  'execution.canceling',
  'device.online',
  'device.offline',
  'device.created',
  'device.updated',
  'device.deleted',
  'device.credential_set',
  'device.credential_revoked',
  'device.certificate_allowed',
  'key.*',
  'session.*',
  'enrollment.*',
  'webhook.*',
  'owner.*',
  'key.created',
  'key.revoked',
  'session.signed_in',
  'session.signed_out',
  'enrollment.created',
  'enrollment.revoked',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'owner.created',
]

export type WebhookDraft = { url: string; eventTypes: string[]; jobName: string; deviceId: string }

export function draftOf(webhook?: Webhook): WebhookDraft {
  return {
    url: webhook?.url ?? '',
    eventTypes: webhook?.eventTypes ?? ['run.finished', 'execution.failed'],
    jobName: webhook?.jobName ?? '',
    deviceId: webhook?.deviceId ?? '',
  }
}

export function contentOf({ url, eventTypes, jobName, deviceId }: WebhookDraft): WebhookContent {
  return {
    url: url.trim(),
    eventTypes: eventTypes as EventPattern[],
    ...(jobName.trim() && { jobName: jobName.trim() }),
    ...(deviceId.trim() && { deviceId: deviceId.trim() }),
  }
}

export function unknownTypes(eventTypes: readonly string[]): string[] {
  return eventTypes.filter((type) => !(eventPatterns as readonly string[]).includes(type))
}

export function isValid({ url, eventTypes }: WebhookDraft): boolean {
  return /^https?:\/\/\S+$/.test(url.trim()) && unknownTypes(eventTypes).length === 0
}

/** "run.finished, execution.failed for restart on kiosk-1" */
export function eventsInWords({ eventTypes, jobName, deviceId }: Webhook): string {
  const types = eventTypes.length === 0 ? 'all events' : eventTypes.join(', ')
  return `${types}${jobName === null ? '' : ` for ${jobName}`}${deviceId === null ? '' : ` on ${deviceId}`}`
}
