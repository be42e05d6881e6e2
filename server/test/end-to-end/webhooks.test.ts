// A receiver that fails, hangs, is down, also through the death of the server: it gets every event, those of one
// execution in order, and what comes twice has the same id and body.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { spawnServer } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { type Received, WebhookReceiver } from '@jobcast/testkit/webhook-receiver'

const flags = ['--webhook-allow', '127.0.0.1', '--log-level', 'warn']
const deviceIds = ['d1', 'd2', 'd3', 'd4']

type Running = Awaited<ReturnType<RestartingServer['running']>>

/** One run on all devices; each execution goes through start, three steps of progress, and its end. */
async function carryOutRun(server: Running, devices: DeviceCalls[]): Promise<void> {
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
        `SELECT event_id FROM event WHERE event_id > ? AND type NOT LIKE 'webhook.%' ORDER BY event_id`,
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

test('a receiver that fails, hangs, and is down through two deaths of the server gets everything in order', async (t) => {
  const folder = temporaryFolder(t)
  const receiver = await WebhookReceiver.open(t)
  const servers = new RestartingServer(folder, ...flags)
  t.after(() => servers.end())
  let server = await servers.running()
  await server.putJobAndDevices('update', deviceIds)
  const devices = await Promise.all(deviceIds.map((id) => newDevice(server, id)))
  const begin = newestEventId(folder)
  const created = await server.call('PUT', '/job/api/webhooks/w', { body: { url: receiver.url } })
  assert.equal(created.status, 201)

  // It fails now and then, and says nothing to one of them.
  receiver.answer = (_, count) => (count === 30 ? 'hang' : count % 7 === 3 ? 500 : 204)
  await carryOutRun(server, devices)
  await carryOutRun(server, devices)
  await receiver.until('some are accepted', () => receiver.accepted.length >= 20)

  // It is down, and the server dies twice meanwhile.
  await receiver.stop()
  await carryOutRun(server, devices)
  server = await servers.killAndStart()
  await carryOutRun(server, devices)
  const { start } = await servers.kill()
  letRetriesBeDue(folder)
  receiver.answer = () => 204
  await receiver.start()
  server = await start()
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
  const doubles = receiver.accepted.length - new Set(receiver.accepted.map(({ id }) => id)).size
  t.diagnostic(`${ids.length} events, ${receiver.received.length} requests, ${doubles} doubles`)
})

test('stopped while a receiver hangs, the server ends with 0, and sends the event again when it is back', async (t) => {
  const folder = temporaryFolder(t)
  const receiver = await WebhookReceiver.open(t)
  const server = await spawnServer(folder, ...flags)
  t.after(() => server.end('SIGKILL'))
  await server.call('PUT', '/job/api/webhooks/w', { body: { url: receiver.url } })
  receiver.answer = () => 'hang'
  await server.call('PUT', '/job/api/devices/d1')
  const sent = `evt_${newestEventId(folder)}`
  await receiver.until('it is told', () => receiver.received.length === 1)
  assert.deepEqual(await server.end('SIGTERM'), { code: 0, signal: null })
  receiver.answer = () => 204
  const next = await spawnServer(folder, ...flags)
  t.after(() => next.end('SIGKILL'))
  await receiver.until('it is told again', () => receiver.accepted.length === 1)
  assert.deepEqual(
    receiver.received.map(({ id }) => id),
    [sent, sent],
  )
})

test('410 holds over a restart: nothing is sent until it is resumed', async (t) => {
  const folder = temporaryFolder(t)
  const receiver = await WebhookReceiver.open(t)
  const servers = new RestartingServer(folder, ...flags, '--log-level', 'trace')
  t.after(() => servers.end())
  let server = await servers.running()
  const url = `${receiver.url}?token=hidden`
  const { secret } = (await server.call('PUT', '/job/api/webhooks/w', { body: { url } })).json
  receiver.answer = () => 410
  await server.call('PUT', '/job/api/devices/d1')
  const paused = async () => (await server.call('GET', '/job/api/webhooks/w')).json.pausedBecause === 'gone'
  await waitUntil('it is paused', paused)
  server = await servers.killAndStart()
  receiver.answer = () => 204
  await server.call('PUT', '/job/api/devices/d2')
  assert.equal((await server.call('GET', '/job/api/webhooks/w')).json.state, 'PAUSED')
  assert.equal(receiver.received.length, 1)
  await server.call('POST', '/job/api/webhooks/w/resume')
  await receiver.until('both are accepted', () => receiver.accepted.length === 2)
  await server.end('SIGTERM')
  const log = server.output.lines.join('\n')
  assert.match(log, /webhook attempted/)
  for (const hidden of [secret, 'token=hidden']) assert.ok(!log.includes(hidden), `the log has ${hidden}`)
})

test('receivers of one owner that never answer do not delay the deliveries of another', async (t) => {
  const folder = temporaryFolder(t)
  const [slow, fast] = [await WebhookReceiver.open(t), await WebhookReceiver.open(t)]
  slow.answer = () => 'hang'
  const server = await spawnServer(folder, ...flags)
  t.after(() => server.end('SIGKILL'))
  const { key } = await server.newOwner('honest')
  await server.putJobAndDevices('update', deviceIds)
  await server.putJobAndDevices('update', deviceIds, key)
  // More webhooks, with more requests at once each, than there are slots.
  const names = Array.from({ length: 60 }, (_, index) => `w${index}`)
  await Promise.all(
    names.map((name) => server.call('PUT', `/job/api/webhooks/${name}`, { body: { url: slow.url } })),
  )
  await server.call('PUT', '/job/api/webhooks/w', { key, body: { url: fast.url } })
  for (let runs = 0; runs < 10; runs++) await server.trigger('update', deviceIds)
  await slow.until('the slow ones are all at work', () => slow.received.length >= 32)
  const begun = performance.now()
  for (let runs = 1; runs <= 5; runs++) {
    await server.trigger('update', deviceIds, { key })
    await fast.until(`delivery ${runs}`, () => fast.accepted.length >= runs)
  }
  const ms = performance.now() - begun
  t.diagnostic(`five deliveries one after the other took ${Math.round(ms)} ms`)
  // Without shares each of them waits for a time-out of the slow receivers.
  assert.ok(ms < 5000, `${ms} ms`)
  assert.equal(slow.received.length, 32)
})
