// The request for an event, signed as Standard Webhooks says.

import { type StoredEvent, toWireEvent } from '../../domain/event/event.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import { eventMessageId, signWebhook, type WebhookMessage } from '../../domain/webhook/sign-webhook.ts'

export type Message = { url: string; headers: Record<string, string>; body: string }

export function signEvent(webhook: StoredWebhook, event: StoredEvent, now: number): Message {
  const body = JSON.stringify(toWireEvent(event))
  return signBody(webhook, { id: eventMessageId(event.eventId), body, now })
}

export function signBody(webhook: StoredWebhook, message: WebhookMessage): Message {
  const headers = signWebhook(secretsOf(webhook, message.now), message)
  return { url: webhook.url, headers, body: message.body }
}

function secretsOf({ secret, oldSecret, oldSecretUntil }: StoredWebhook, now: number): string[] {
  return oldSecret !== null && now < (oldSecretUntil ?? 0) ? [secret, oldSecret] : [secret]
}
