// Sends a webhook one test request, which is not an event. Nothing is stored, and the answer changes neither the state of the
// webhook nor its retries.

import { randomUUID } from 'node:crypto'
import { ApiError, type TestEvent, type WebhookTestResult } from '@jobcast/contract'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import type { Tell } from '../../observe/events.ts'
import type { Clock } from './clock.ts'
import { type Answer, shownMs } from './event-poster.ts'
import { formatTest } from './format-event.ts'
import { type Message, signBody } from './sign-event.ts'
import type { Slots } from './slots.ts'

type SendTestDeps = {
  clock: Clock
  slots: Slots
  tell: Tell
  publicUrl: string | undefined
  /** Undefined: the service is stopping. */
  post: (message: Message) => Promise<Answer | undefined>
}

export async function sendTest(deps: SendTestDeps, webhook: StoredWebhook): Promise<WebhookTestResult> {
  const { clock, slots, tell, post, publicUrl } = deps
  const { ownerNo, webhookName } = webhook
  const waiter = { ownerNo, pump: () => undefined }
  if (!slots.tryAcquire(waiter)) throw new ApiError('J-908', { retryAfterSeconds: 1 })
  const begun = clock.elapsed()
  const answer = await post(testMessage(webhook, clock.now(), publicUrl)).finally(() => slots.release(waiter))
  if (answer === undefined) throw new ApiError('J-910', { retryAfterSeconds: 5 })
  const { status, error, detail } = answer
  const taken = clock.elapsed() - begun
  const ms = shownMs(answer, Math.round(taken))
  tell({
    ...{ kind: 'webhook-attempted', webhookName, ownerNo, eventId: 0, status },
    ...{ error: detail ?? error, ms: Math.round(taken) },
  })
  // The caller can measure too, so a rounded-up duration is really waited for.
  if (ms > taken) await new Promise<void>((resolve) => clock.after(ms - taken, resolve))
  return { status, error, ms }
}

function testMessage(webhook: StoredWebhook, now: number, publicUrl: string | undefined): Message {
  const { webhookName } = webhook
  const event: TestEvent = {
    eventId: 0,
    type: 'webhook.test',
    timestamp: new Date(now).toISOString(),
    data: { webhookName },
  }
  const id = `test_${randomUUID()}`
  return signBody(webhook, { id, ...formatTest(webhook, event, id, publicUrl), now })
}
