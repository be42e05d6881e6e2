// A webhook being edited, and its events in words.

import { type EventPattern, eventPatterns, type Webhook, type WebhookContent } from '@jobcast/client'

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
