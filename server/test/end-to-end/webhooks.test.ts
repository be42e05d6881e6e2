// A receiver that fails, hangs, and is down, also during crashes of the server: it gets every event, those of one execution in
// order, and duplicates have the same id and body.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { type Received, WebhookReceiver } from '@jobcast/testkit/webhook-receiver'

const flags = ['--webhook-allow', '127.0.0.1', '--log-level', 'trace']
const deviceIds = ['d1', 'd2', 'd3', 'd4']

/** One run on all devices; each execution goes through start, three steps of progress, and its end. */
async function carryOutRun(server: Api, devices: DeviceCalls[]): Promise<void> {
  const reply = await server.trigger('update', deviceIds)
  assert.equal(reply.status, 201)
  await Promise.all(
    devices.map(async ({ deviceId, token }) => {
      const device = deviceCalls(server.http, deviceId, token)
      const { jobId } = (await device.startNext()).json.execution
      for (const step of ['1', '2', '3']) {
        await device.update(Number(jobId), 'IN_PROGRESS', { statusDetails: { step } })
      }
      const end = await device.update(Number(jobId), 'SUCCEEDED')
      assert.equal(end.status, 200)
    }),
  )
}

/** The ids of all events behind this one that a webhook without a filter receives. */
function eventIdsAfter(folder: string, after: number): number[] {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true })
  try {
    return db
      .prepare(
        `SELECT event_id FROM event WHERE event_id > ? AND type NOT LIKE 'webhook.%' AND type NOT LIKE 'audit.%' ORDER BY event_id`,
      )
      .all(after)
      .map((row) => row.event_id as number)
  } finally {
    db.close()
  }
}

/** As if minutes had gone by: on a slow machine an event may have been tried twice while the receiver was down. */
function letRetriesBeDue(folder: string): void {
  const db = new DatabaseSync(join(folder, 'jobcast.db'))
  db.exec(`UPDATE webhook_delivery SET next_at = 0 WHERE state = 'PENDING'`)
  db.close()
}

function newestEventId(folder: string): number {
  return eventIdsAfter(folder, 0).at(-1) ?? 0
}

function assertInOrder(accepted: Received[]): void {
  const first = new Map<number, Received>()
  for (const received of accepted) {
    const before = first.get(received.event.eventId)
    if (before) assert.deepEqual([received.id, received.body], [before.id, before.body])
    else first.set(received.event.eventId, received)
  }
  const byExecution = Map.groupBy(first.values(), ({ event }) => event.data.jobExecutionId)
  for (const [jobExecutionId, ofOne] of byExecution) {
    if (jobExecutionId === undefined) continue
    const versions = ofOne.map(({ event }) => event.data.versionNumber)
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
      `execution ${jobExecutionId}`,
    )
  }
}

test('a receiver that fails, hangs, and is down during two crashes of the server gets everything in order', async (t) => {
  const folder = newTemporaryFolder()
  const receiver = await WebhookReceiver.open(t)
  const servers = new RestartingServer(folder, ...flags)
  t.after(() => servers.end())
  let server: Api = await servers.running()
  await server.putJobAndDevices('update', deviceIds)
  const devices = await Promise.all(deviceIds.map((id) => newDevice(server, id)))
  const begin = newestEventId(folder)
  const created = await server.call('PUT', '/job/api/webhooks/w', { body: { url: receiver.url } })
  assert.equal(created.status, 201)

  // It fails now and then, and does not respond to one request.
  receiver.answer = (_, count) => (count === 30 ? 'hang' : count % 7 === 3 ? 500 : 204)
  await carryOutRun(server, devices)
  await carryOutRun(server, devices)
  await receiver.until('some are accepted', () => receiver.accepted.length >= 20)
  // Another one is gone, and that holds over a restart.
  const gone = await makeGone(t, server)

  // It is down, and the server crashes twice meanwhile.
  await receiver.stop()
  await carryOutRun(server, devices)
  const second = await servers.killAndStart()
  server = second
  await carryOutRun(server, devices)
  await assertGone(server, gone)
  // One that hangs does not keep it from its end.
  const hanging = await WebhookReceiver.open(t)
  hanging.answer = () => 'hang'
  const only = { url: hanging.url, eventTypes: ['device.created'] }
  await server.call('PUT', '/job/api/webhooks/hanging', { body: only })
  await server.call('PUT', '/job/api/devices/new')
  const sent = `evt_${newestEventId(folder)}`
  await hanging.until('it is told', () => hanging.received.length === 1)
  assert.deepEqual(await second.end('SIGTERM'), { code: 0, signal: null })
  const log = second.output.lines.join('\n')
  assert.match(log, /webhook attempted/)
  for (const hidden of [gone.secret, 'token=hidden'])
    assert.ok(!log.includes(hidden), `the log has ${hidden}`)
  letRetriesBeDue(folder)
  hanging.answer = () => 204
  receiver.answer = () => 204
  await receiver.start()
  server = await openServer(t, { dataFolder: folder, webhookAllow: ['127.0.0.1'] })
  removeAfter(t, folder)
  await carryOutRun(server, devices)

  const ids = eventIdsAfter(folder, begin)
  assert.ok(ids.length >= 5 * (2 + 4 * deviceIds.length), `${ids.length} events`)
  const missing = () => {
    const accepted = new Set(receiver.accepted.map(({ event }) => event.eventId))
    return ids.filter((id) => !accepted.has(id))
  }
  await receiver.until('every event is accepted', () => missing().length === 0)
  assertInOrder(receiver.accepted)
  receiver.verifyAll(created.json.secret)
  await hanging.until('it is told again', () => hanging.accepted.length >= 1)
  assert.deepEqual(
    hanging.received.slice(0, 2).map(({ id }) => id),
    [sent, sent],
  )
  const doubles = receiver.accepted.length - new Set(receiver.accepted.map(({ id }) => id)).size
  t.diagnostic(`${ids.length} events, ${receiver.received.length} requests, ${doubles} doubles`)
})

type Gone = { receiver: WebhookReceiver; secret: string }

/** Of devices only, so that what runs do does not reach it. */
async function makeGone(t: TestContext, server: Api): Promise<Gone> {
  const receiver = await WebhookReceiver.open(t)
  const body = { url: `${receiver.url}?token=hidden`, eventTypes: ['device.created'] }
  const { secret } = (await server.call('PUT', '/job/api/webhooks/gone', { body })).json
  receiver.answer = () => 410
  await server.call('PUT', '/job/api/devices/gone-1')
  const isPaused = async () =>
    (await server.call('GET', '/job/api/webhooks/gone')).json.pausedBecause === 'gone'
  await waitUntil('it is paused', isPaused)
  return { receiver, secret }
}

/** Nothing is sent until it is resumed. */
async function assertGone(server: Api, { receiver }: Gone): Promise<void> {
  receiver.answer = () => 204
  await server.call('PUT', '/job/api/devices/gone-2')
  assert.equal((await server.call('GET', '/job/api/webhooks/gone')).json.state, 'PAUSED')
  assert.equal(receiver.received.length, 1)
  await server.call('POST', '/job/api/webhooks/gone/resume')
  await receiver.until('both are accepted', () => receiver.accepted.length === 2)
}

/** After that long without an answer a delivery has failed. */
const senderTimeoutMs = 15_000

test('receivers of one owner that never answer do not delay the deliveries of another', async (t) => {
  const [slow, fast] = [await WebhookReceiver.open(t), await WebhookReceiver.open(t)]
  slow.answer = () => 'hang'
  const server = await openServer(t, { webhookAllow: ['127.0.0.1'] })
  const { key } = await server.newOwner('honest')
  await server.putJobAndDevices('update', deviceIds)
  await server.putJobAndDevices('update', deviceIds, key)
  // More webhooks, with more requests at once each, than there are slots.
  const names = Array.from({ length: 60 }, (_, index) => `w${index}`)
  await Promise.all(
    names.map((name) => server.call('PUT', `/job/api/webhooks/${name}`, { body: { url: slow.url } })),
  )
  await server.call('PUT', '/job/api/webhooks/w', { key, body: { url: fast.url } })
  const slowSince = performance.now()
  for (let runs = 0; runs < 10; runs++) await server.trigger('update', deviceIds)
  await slow.until('the slow ones are all at work', () => slow.received.length >= 32)
  const timesMs: number[] = []
  do {
    const begun = performance.now()
    for (let runs = 1; runs <= 5; runs++) {
      const before = fast.accepted.length
      await server.trigger('update', deviceIds, { key })
      await fast.until(`delivery ${runs}`, () => fast.accepted.length > before)
    }
    timesMs.push(Math.round(performance.now() - begun))
    // Before the first one of them has timed out, no other takes its slot.
    if (performance.now() - slowSince < senderTimeoutMs) assert.equal(slow.received.length, 32)
    // Without shares each delivery waits for a time-out of the slow receivers. A busy machine takes as long once.
  } while (Math.min(...timesMs) >= 5000 && timesMs.length < 5)
  t.diagnostic(`five deliveries one after the other took ${timesMs} ms`)
  assert.ok(Math.min(...timesMs) < 5000, `${timesMs} ms`)
})
