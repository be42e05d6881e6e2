// The request for an event, signed as Standard Webhooks says.

import { type StoredEvent, toWireEvent } from '../../domain/event.ts'
import type { StoredWebhook } from '../../domain/ports/webhooks.ts'
import { signWebhook } from '../../domain/sign-webhook.ts'

export type Message = { url: string; headers: Record<string, string>; body: string }

export function signEvent(webhook: StoredWebhook, event: StoredEvent, now: number): Message {
  const body = JSON.stringify(toWireEvent(event))
  const headers = signWebhook(secretsOf(webhook, now), { eventId: event.eventId, body, now })
  return { url: webhook.url, headers, body }
}

function secretsOf({ secret, oldSecret, oldSecretUntil }: StoredWebhook, now: number): string[] {
  return oldSecret !== null && now < (oldSecretUntil ?? 0) ? [secret, oldSecret] : [secret]
}
