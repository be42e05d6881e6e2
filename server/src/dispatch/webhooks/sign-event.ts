// The request for an event, signed as Standard Webhooks says.

import type { StoredEvent } from '../../domain/event/event.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import { eventMessageId, signWebhook, type WebhookMessage } from '../../domain/webhook/sign-webhook.ts'
import { type FormatDeps, formatEvent } from './format-event.ts'

export type Message = { url: string; headers: Record<string, string>; body: string }

export async function signEvent(
  deps: FormatDeps,
  webhook: StoredWebhook,
  event: StoredEvent,
  now: number,
): Promise<Message> {
  const formatted = await formatEvent(deps, webhook, event)
  return signBody(webhook, { id: eventMessageId(event.eventId), ...formatted, now })
}

export function signBody(webhook: StoredWebhook, message: WebhookMessage): Message {
  const headers = signWebhook(secretsOf(webhook, message.now), message)
  return { url: webhook.url, headers, body: message.body }
}

function secretsOf({ secret, oldSecret, oldSecretUntil }: StoredWebhook, now: number): string[] {
  return oldSecret !== null && now < (oldSecretUntil ?? 0) ? [secret, oldSecret] : [secret]
}
