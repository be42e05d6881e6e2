// The library of Standard Webhooks itself must take what is signed here.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { signEvent } from '../../../src/dispatch/webhooks/sign-event.ts'
import type { StoredEvent } from '../../../src/domain/event/event.ts'
import type { StoredWebhook } from '../../../src/domain/webhook/ports/webhooks.ts'
import type { FactsStore } from '../../../src/domain/webhook/read-run-facts.ts'
import { newWebhookSecret } from '../../../src/domain/webhook/webhook.ts'

const event: StoredEvent = {
  eventId: 7,
  type: 'device.created',
  at: Date.UTC(2026, 10, 15),
  data: { deviceId: 'kiosk-1', deviceName: 'Kiösk 😀', tags: [] },
}
// Events in the format jobcast need nothing else from the store.
const noStore = {} as FactsStore
const [secret, oldSecret, another] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
const sign = (more: Partial<StoredWebhook> = {}, now = Date.now()) =>
  signEvent(
    { store: noStore, publicUrl: undefined },
    {
      url: 'https://a.example',
      format: 'jobcast',
      secret,
      oldSecret: null,
      oldSecretUntil: null,
      ...more,
    } as StoredWebhook,
    event,
    now,
  )

test('the stock library verifies it and gives the event', async () => {
  const { headers, body } = await sign()
  assert.deepEqual(new Webhook(secret).verify(body, headers), {
    eventId: 7,
    type: 'device.created',
    timestamp: '2026-11-15T00:00:00.000Z',
    data: event.data,
  })
  assert.equal(headers['webhook-id'], 'evt_7')
})

test('a CloudEvent of a service without a public address has the owner in its source', async () => {
  const { body } = await sign({ format: 'cloudevents', ownerId: 'ow_1' })
  assert.equal(JSON.parse(body).source, 'urn:jobcast:ow_1')
})

test('another secret, another body, another id or an old instant is rejected', async () => {
  const { headers, body } = await sign()
  const refused = (check: () => unknown) => assert.throws(check, WebhookVerificationError)
  refused(() => new Webhook(another).verify(body, headers))
  refused(() => new Webhook(secret).verify(`${body} `, headers))
  refused(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'evt_8' }))
  const old = await sign({}, Date.now() - 10 * 60_000)
  refused(() => new Webhook(secret).verify(old.body, old.headers))
})

test('after a change both secrets sign, until the time of the old one is over', async () => {
  const now = Date.now()
  const both = await sign({ oldSecret, oldSecretUntil: now + 1 }, now)
  for (const each of [secret, oldSecret]) assert.ok(new Webhook(each).verify(both.body, both.headers))
  assert.equal(both.headers['webhook-signature']?.split(' ').length, 2)
  const over = await sign({ oldSecret, oldSecretUntil: now }, now)
  assert.ok(new Webhook(secret).verify(over.body, over.headers))
  assert.throws(() => new Webhook(oldSecret).verify(over.body, over.headers), WebhookVerificationError)
})
