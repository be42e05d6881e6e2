// The request for an event, signed as Standard Webhooks says.

import { createHmac } from 'node:crypto'
import { type StoredEvent, toWireEvent } from '../../domain/event.ts'
import { secretKey } from '../../domain/webhook.ts'
import type { StoredWebhook } from '../../domain/webhook-store.ts'

export type Message = { url: string; headers: Record<string, string>; body: string }

/** `webhook-id` is the same for each attempt, so that a receiver can tell what it has seen. */
export function signEvent(webhook: StoredWebhook, event: StoredEvent, now: number): Message {
  const id = `evt_${event.eventId}`
  const timestamp = String(Math.floor(now / 1000))
  const body = JSON.stringify(toWireEvent(event))
  const signatures = secretsOf(webhook, now).map((secret) => {
    const mac = createHmac('sha256', secretKey(secret)).update(`${id}.${timestamp}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    url: webhook.url,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
    body,
  }
}

function secretsOf({ secret, oldSecret, oldSecretUntil }: StoredWebhook, now: number): string[] {
  return oldSecret !== null && now < (oldSecretUntil ?? 0) ? [secret, oldSecret] : [secret]
}
