// Which events become chat messages. Executions are reported with their run: when the first of them fail, and when the run
// has finished. Events of single devices and of released parts are not sent to a chat.

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

/** The default types: events that need attention. */
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
/** Never sent, because they are too frequent. */
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

/** A webhook for executions gets a finished run only if one of its executions ended in a selected state. */
export function isWanted(
  { format, eventTypes }: Pick<WebhookContent, 'format' | 'eventTypes'>,
  { type, data }: Pick<StoredEvent, 'type' | 'data'>,
): boolean {
  if (!isChat(format) || type !== 'run.finished' || matchesPatterns(type, eventTypes)) return true
  const { counts } = data as RunEventData
  return endsIn(eventTypes).some((state) => (counts?.[state] ?? 0) > 0)
}

/** Throws J-500 for types that are never sent. */
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
