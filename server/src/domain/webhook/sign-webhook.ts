// The headers of a webhook request, signed according to Standard Webhooks.

import { createHmac } from 'node:crypto'
import { secretKey } from './webhook.ts'

/** `id`: the header `webhook-id`. */
export type WebhookMessage = { id: string; body: string; contentType?: string; now: number }

/** The same for each attempt, so that a receiver can recognize a repetition. */
export function eventMessageId(eventId: number): string {
  return `evt_${eventId}`
}

export function signWebhook(
  secrets: readonly string[],
  { id, body, contentType = 'application/json', now }: WebhookMessage,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', secretKey(secret)).update(`${id}.${timestamp}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'content-type': contentType,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
