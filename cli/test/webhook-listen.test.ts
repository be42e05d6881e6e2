// jobcast webhooks listen: forwards events to a local port as a webhook would send them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { runJobcast, startJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }

test('forwards events in order, signed with the printed secret, and exits with 0 on Ctrl-C', async (t) => {
  await server.putJobAndDevices('listen', ['listen-1'])
  const receiver = await WebhookReceiver.open(t)
  const flags = ['--forward', new URL(receiver.url).port, '--event', 'run.*', '--job', 'listen']
  const listening = startJobcast(t, ['webhooks', 'listen', ...flags], access)
  const [, secret = ''] = await listening.untilError(/^Signing with a new secret: (whsec_\S+)$/m)
  await listening.untilError(/^Forwarding events to http:\/\/127\.0\.0\.1:\d+; press Ctrl-C to stop\.$/m)
  await server.trigger('listen', ['listen-1'])
  await server.trigger('listen', ['listen-1'])
  await listening.until(/(?:^.* run\.created {2}listen #\d+ .* -> 204\n){2}/m)
  assert.equal(await listening.end('SIGINT'), 0)
  receiver.verifyAll(secret)
  const ids = receiver.received.map(({ event }) => event.eventId)
  assert.equal(ids.length, 2)
  assert.deepEqual(
    receiver.received.map(({ id }) => id),
    ids.toSorted((a, b) => a - b).map((eventId) => `evt_${eventId}`),
  )
})

test('shows that a receiver rejects, redirects or is unreachable, and sends the next event', async (t) => {
  await server.putJobAndDevices('refuse', ['refuse-1'])
  const receiver = await WebhookReceiver.open(t)
  receiver.headers = { location: 'http://127.0.0.1:9/' }
  receiver.answer = (_, count) => [500, 302][count - 1] ?? 200
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const listen = (to: string) =>
    startJobcast(
      t,
      ['webhooks', 'listen', '--forward', to, '--job', 'refuse', '--event', 'run.created', '--json'],
      {
        ...access,
        JOBCAST_WEBHOOK_SECRET: secret,
      },
    )
  const listening = listen(receiver.url)
  const away = listen('http://127.0.0.1:9')
  await Promise.all([listening, away].map((each) => each.untilError(/^Forwarding/m)))
  for (let runs = 0; runs < 3; runs++) await server.trigger('refuse', ['refuse-1'])
  await listening.until(/(?:.*\n){3}/)
  const lines = listening.stdout().trim().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).status),
    [500, 302, 200],
  )
  await away.until(/"error":/)
  assert.doesNotMatch(listening.stderr(), /whsec_/)
  assert.deepEqual(await Promise.all([listening.end('SIGINT'), away.end('SIGINT')]), [0, 0])
})

test('exits with 2 for an invalid address or secret', async () => {
  const wrong = await runJobcast(['webhooks', 'listen', '--forward', 'ftp://x'], access)
  assert.equal(wrong.code, 2)
  const env = { ...access, JOBCAST_WEBHOOK_SECRET: 'secret' }
  const secret = await runJobcast(['webhooks', 'listen', '--forward', '3000'], env)
  assert.equal(secret.code, 2)
  assert.match(secret.stderr, /JOBCAST_WEBHOOK_SECRET is not a webhook secret/)
})
