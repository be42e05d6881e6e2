// The draft of a webhook, and a description of its events.

import { type EventPattern, eventPatterns, type Webhook, type WebhookContent } from '@jobcast/client'

export type WebhookFormat = Webhook['format']

export const formatWords: Record<WebhookFormat, string> = {
  jobcast: 'Events (JSON)',
  slack: 'Slack messages',
  teams: 'Microsoft Teams messages',
  cloudevents: 'CloudEvents 1.0',
}

export type WebhookDraft = {
  url: string
  eventTypes: string[]
  jobName: string
  deviceId: string
  format: WebhookFormat
}

export function draftOf(webhook?: Webhook): WebhookDraft {
  return {
    url: webhook?.url ?? '',
    eventTypes: webhook?.eventTypes ?? ['run.finished', 'execution.failed'],
    jobName: webhook?.jobName ?? '',
    deviceId: webhook?.deviceId ?? '',
    format: webhook?.format ?? 'jobcast',
  }
}

export function contentOf({ url, eventTypes, jobName, deviceId, format }: WebhookDraft): WebhookContent {
  return {
    url: url.trim(),
    eventTypes: eventTypes as EventPattern[],
    format,
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
export function eventsInWords({ eventTypes, jobName, deviceId, format }: Webhook): string {
  const isChat = format === 'slack' || format === 'teams'
  const byDefault = isChat ? 'what people wait for: runs, missed schedules, the freeze' : 'all events'
  const types = eventTypes.length === 0 ? byDefault : eventTypes.join(', ')
  return `${types}${jobName === null ? '' : ` for ${jobName}`}${deviceId === null ? '' : ` on ${deviceId}`}`
}
