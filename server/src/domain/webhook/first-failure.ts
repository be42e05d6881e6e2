// Executions in a chat: a run of ten thousand devices sends one message when the first of them fail, because a run with an
// offline device may never finish, and one when it has finished.

import {
  type EventDataOf,
  type EventType,
  type ExecState,
  executionEventType,
  matchesPatterns,
  nounOf,
} from '@jobcast/contract'
import type { Store } from '../common/ports/store.ts'
import { type StoredEvent, subjectOf } from '../event/event.ts'
import { isChat } from './is-chat.ts'
import type { WebhookContent } from './ports/webhooks.ts'

type Format = Pick<WebhookContent, 'format'>

/** States that need attention; cancellations are excluded, because somebody requested them. */
const failures: readonly ExecState[] = ['FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED']

/** How long the first failure waits for further ones: the message has the counts and reasons at the time of sending. */
export const settleMs = 5000

export function failureTypes(patterns: readonly string[]): EventType[] {
  return failures.map(executionEventType).filter((type) => matchesPatterns(type, patterns))
}

/** The run by which an execution is reported. Undefined: the event is sent by itself. */
export function failingRunOf({ format }: Format, { type, data }: StoredEvent): number | undefined {
  return isChat(format) && nounOf(type) === 'execution' ? (data as EventDataOf<'execution'>).runId : undefined
}

/** Events of one subject are sent in order, so a run is not reported as failing after it has finished. */
export function subjectSent(webhook: Format, event: StoredEvent): string {
  const runId = failingRunOf(webhook, event)
  return runId === undefined ? subjectOf(event) : `run ${runId}`
}

/** The run has finished meanwhile, which is a separate message, or is purged. */
export async function isOvertaken(
  store: Pick<Store, 'getRun'>,
  webhook: Format & { ownerNo: number },
  event: StoredEvent,
): Promise<boolean> {
  const runId = failingRunOf(webhook, event)
  if (runId === undefined) return false
  const run = await store.getRun({ ownerNo: webhook.ownerNo, runId })
  return run === undefined || run.endedAt !== null
}
