// Webhooks where there are several nodes: each is carried out by one of them at a time, and by another when that is gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { execute } from '@jobcast/testkit/postgres-server'
import type { SpawnedServer } from '@jobcast/testkit/spawn-server'
import { type Received, WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { spawnNodes, until } from './spawn-nodes.ts'

const deviceIds = ['d1', 'd2', 'd3', 'd4']
const names = ['w0', 'w1', 'w2', 'w3', 'w4']

/** The number of the node that has the webhook; undefined: none has. */
async function carrierOf(databaseUrl: string, webhookName: string): Promise<number | undefined> {
  const rows = await execute(
    databaseUrl,
    `SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND classid = 740007
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND objid = (SELECT webhook_no FROM webhook WHERE webhook_name = '${webhookName}')::oid`,
  )
  assert.ok(rows.length <= 1, `${webhookName} is held ${rows.length} times`)
  const [row] = rows
  return row && Number((row.application_name as string).split(' ').at(-1))
}

/** Those of one execution, by when each came first. */
function assertInOrder(accepted: Received[]): void {
  const first = new Map(accepted.toReversed().map((received) => [received.event.eventId, received]))
  const inTurn = accepted.filter((received) => first.get(received.event.eventId) === received)
  for (const received of accepted) assert.equal(received.body, first.get(received.event.eventId)?.body)
  const byExecution = Map.groupBy(inTurn, ({ event }) => event.data.jobExecutionId)
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

test('every event is delivered, by one node at a time, also when that node is killed', async (t) => {
  const { databaseUrl, nodes, numbers } = await spawnNodes(t, 3, {
    flags: ['--webhook-allow', '127.0.0.1', '--log-level', 'warn'],
    inTurn: true,
  })
  const servers = await Promise.all(nodes.map((node) => node.running()))
  const [one] = servers as [SpawnedServer]
  await one.putJobAndDevices('update', deviceIds)
  const devices = await Promise.all(deviceIds.map((id) => newDevice(one, id)))
  const receivers = await Promise.all(names.map(() => WebhookReceiver.open(t)))
  const [{ event_id: begin } = {}] = await execute(
    databaseUrl,
    'SELECT max(event_id)::int AS event_id FROM event',
  )
  for (const [index, name] of names.entries()) {
    const body = { url: receivers[index]?.url }
    const server = servers[index % servers.length] as SpawnedServer
    assert.equal((await server.call('PUT', `/job/api/webhooks/${name}`, { body })).status, 201)
  }
  /** Up to now, but for presence: when that is written is not ours to say. Those of webhooks are not sent. */
  const eventIds = async () =>
    (
      await execute(
        databaseUrl,
        `SELECT event_id::int FROM event WHERE event_id > ${begin} AND type NOT IN ('device.online', 'device.offline')
           AND type NOT LIKE 'webhook.%'`,
      )
    ).map((row) => row.event_id as number)
  const missing = (receiver: WebhookReceiver, ids: number[]) => {
    const accepted = new Set(receiver.accepted.map(({ event }) => event.eventId))
    return ids.filter((id) => !accepted.has(id))
  }
  const allReceive = async (which: WebhookReceiver[]) => {
    const ids = await eventIds()
    for (const receiver of which) {
      await receiver.until('it has everything', () => missing(receiver, ids).length === 0)
      assertInOrder(receiver.accepted)
    }
    return ids.length
  }

  await until('all are taken', async () => {
    const carriers = await Promise.all(names.map((name) => carrierOf(databaseUrl, name)))
    return carriers.every((carrier) => carrier !== undefined)
  })
  for (let round = 0; round < 3; round++) await carryOutRun(servers, devices)
  await allReceive(receivers)
  // Nothing was wrong, so nothing came twice.
  for (const { received } of receivers)
    assert.equal(new Set(received.map(({ id }) => id)).size, received.length)

  const victim = await carrierOf(databaseUrl, 'w0')
  const index = numbers.indexOf(victim as number)
  const living = servers.filter((_, each) => each !== index)
  const working = carryOutRun(living, devices)
  const killed = performance.now()
  await nodes[index]?.kill()
  await working
  await carryOutRun(living, devices)
  const events = await allReceive(receivers)
  const goesOnMs = Math.round(performance.now() - killed)
  assert.notEqual(await carrierOf(databaseUrl, 'w0'), victim)

  // Whoever carries it out, any node can be told of a change.
  const [w0, other] = receivers as [WebhookReceiver, WebhookReceiver]
  for (const [round, server] of living.entries()) {
    const elsewhere = living[(round + 1) % living.length] as SpawnedServer
    assert.equal((await server.call('POST', '/job/api/webhooks/w0/pause')).json.state, 'PAUSED')
    // What is under way when it is paused may still come.
    await until('nobody has it', async () => (await carrierOf(databaseUrl, 'w0')) === undefined)
    const before = w0.received.length
    await carryOutRun(living, devices)
    await allReceive([other])
    assert.equal(w0.received.length, before, 'it was sent something while it was paused')
    assert.equal((await elsewhere.call('POST', '/job/api/webhooks/w0/resume')).status, 200)
    await allReceive([w0])
  }
  const moved = await WebhookReceiver.open(t)
  const change = { body: { url: moved.url } }
  assert.equal((await (living[1] as SpawnedServer).call('PUT', '/job/api/webhooks/w0', change)).status, 200)
  const before = await eventIds()
  await carryOutRun(living, devices)
  const fresh = (await eventIds()).filter((id) => !before.includes(id))
  const hasAll = () =>
    missing(moved, fresh).every((id) => w0.accepted.some(({ event }) => event.eventId === id))
  await moved.until('it has what is new', hasAll)
  assert.ok(moved.received.length > 0)
  t.diagnostic(`${events} events to each of ${names.length}; all delivered ${goesOnMs} ms after a kill`)
})

/** One run on all devices, each of which reports at any node. */
async function carryOutRun(servers: SpawnedServer[], devices: DeviceCalls[]): Promise<void> {
  const at = (index: number) => servers[index % servers.length] as SpawnedServer
  assert.equal((await at(devices.length).trigger('update', deviceIds)).status, 201)
  await Promise.all(
    devices.map(async ({ deviceId, token }, index) => {
      const device = (step: number) => deviceCalls(at(index + step).http, deviceId, token)
      const { jobId } = (await device(0).startNext()).json.execution
      for (const step of [1, 2, 3]) {
        await device(step).update(Number(jobId), 'IN_PROGRESS', { statusDetails: { step: String(step) } })
      }
      assert.equal((await device(4).update(Number(jobId), 'SUCCEEDED')).status, 200)
    }),
  )
}
