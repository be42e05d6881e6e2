// The webhook of an owner of a history, and its receiver.

import assert from 'node:assert/strict'
import type { Api } from '@jobcast/testkit/call-api'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import type { Cleanup } from './disturbed-service.ts'

/** Does not accept some events when they come first; a second refusal would delay the next try by minutes. */
export async function openReceiver(t: Cleanup, seed: number, refused: number): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.open(t)
  const once = new Set<string>()
  receiver.answer = ({ id, event }) => {
    if (once.has(id) || !isChosen(seed, 'webhook', event.eventId, refused)) return 204
    once.add(id)
    return 500
  }
  return receiver
}

/** Gives the newest event before it. */
export async function putWebhook(api: Api, { url }: WebhookReceiver): Promise<number> {
  const reply = await api.call('PUT', '/job/api/webhooks/history', { body: { url } })
  assert.equal(reply.status, 201, reply.text)
  const response = await fetch(`${api.http}/job/api/events`, { headers: { 'x-api-key': api.adminKey } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!/^id: \d+\n/m.test(text)) text += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  return Number(/^id: (\d+)/m.exec(text)?.[1])
}

export async function pendingDeliveries(api: Api): Promise<string> {
  const { text } = await api.call('GET', '/job/api/webhooks/history/deliveries?state=PENDING&limit=3')
  return text
}

/** The same for the same seed. */
export function isChosen(seed: number, what: string, which: number, part: number): boolean {
  const number = [...`${what} ${which}`].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) >>> 0, seed)
  return seededRandom(number).chance(part)
}
