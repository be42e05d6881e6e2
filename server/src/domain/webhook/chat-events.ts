// Which events become messages for people. Executions are reported with their run: when the first of them fail, and once
// it has finished. Events of single devices and of each released part are not sent to a chat.

import {
  ApiError,
  eventTypes as allTypes,
  type EventType,
  type ExecState,
  executionEventType,
  matchesPatterns,
  nounOf,
  type RunEventData,
  type WebhookContent as SentContent,
} from '@jobcast/contract'
import type { StoredEvent } from '../event/event.ts'
import { unsuccessfulEnds } from '../execution/execution.ts'
import { failureTypes } from './first-failure.ts'
import { isChat } from './is-chat.ts'
import type { WebhookContent } from './ports/webhooks.ts'

/** Sent if the owner names no types: what somebody should look at. */
const usual: readonly EventType[] = [
  'run.finished',
  'run.paused',
  'run.aborted',
  'run.awaiting_approval',
  'run.denied',
  'schedule.missed',
  'schedule.paused',
  'fleet.frozen',
  'fleet.unfrozen',
]
/** As many as there are devices, or waves, or minutes. */
const silent: readonly EventType[] = ['run.released', 'audit.sealed']
const chatTypes = allTypes.filter(
  (type) => !['execution', 'device'].includes(nounOf(type)) && !silent.includes(type),
)

/** The types and patterns of the events that are read for the webhook. */
export function typesSent({
  format,
  eventTypes,
}: Pick<WebhookContent, 'format' | 'eventTypes'>): readonly string[] {
  if (!isChat(format)) return eventTypes
  return eventTypes.length === 0 ? usual : [...new Set(eventTypes.flatMap((each) => messagesOf(each)))]
}

/** A run that has finished is sent for its executions only if one of them ended as the webhook says. */
export function isWanted(
  { format, eventTypes }: Pick<WebhookContent, 'format' | 'eventTypes'>,
  { type, data }: Pick<StoredEvent, 'type' | 'data'>,
): boolean {
  if (!isChat(format) || type !== 'run.finished' || matchesPatterns(type, eventTypes)) return true
  const { counts } = data as RunEventData
  return endsIn(eventTypes).some((state) => (counts?.[state] ?? 0) > 0)
}

/** J-500 for a type that would never be sent. */
export function refuseSilentTypes({ format = 'jobcast', eventTypes = [] }: SentContent): void {
  if (!isChat(format)) return
  const never = eventTypes.find((each) => messagesOf(each).length === 0)
  if (never === undefined) return
  throw new ApiError('J-500', {
    field: 'eventTypes',
    detail: `eventTypes: a webhook with the format ${format} sends no messages for ${never}; use the format jobcast or cloudevents for it.`,
  })
}

function messagesOf(pattern: string): EventType[] {
  const types = chatTypes.filter((type) => matchesPatterns(type, [pattern]))
  if (types.length > 0 || endsIn([pattern]).length === 0) return types
  return ['run.finished', ...failureTypes([pattern])]
}

function endsIn(patterns: readonly string[]): ExecState[] {
  const ends: readonly ExecState[] = ['SUCCEEDED', ...unsuccessfulEnds]
  return ends.filter((state) => matchesPatterns(executionEventType(state), patterns))
}
