// Webhooks with several nodes: each is delivered by one of them at a time, and by another when that node is gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { execute } from '@jobcast/testkit/postgres-server'
import type { RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Received, WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { type Node, nodeNumbers, openBeside, spawnNodes, until } from './spawn-nodes.ts'

const deviceIds = ['d1', 'd2', 'd3', 'd4']
/** As many as it takes until the node that is killed has one of them: all agree by their numbers on who has which. */
const [leastWebhooks, mostWebhooks] = [4, 60]

/** The numbers of the nodes that have webhooks, by their names. */
async function carriersOf(databaseUrl: string): Promise<Map<string, number>> {
  const rows = await execute(
    databaseUrl,
    `SELECT webhook_name, application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
       JOIN webhook ON objid = webhook_no::oid
     WHERE locktype = 'advisory' AND classid = 740007
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  const carriers = new Map(
    rows.map((row) => [
      row.webhook_name as string,
      Number((row.application_name as string).split(' ').at(-1)),
    ]),
  )
  assert.equal(carriers.size, rows.length, 'a webhook is held several times')
  return carriers
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
  const { databaseUrl, nodes } = await spawnNodes(t, 1, {
    flags: ['--webhook-allow', '127.0.0.1', '--log-level', 'warn'],
  })
  const [node] = nodes as [RestartingServer]
  const one = await node.running()
  const [victim] = await nodeNumbers(databaseUrl)
  const open = () => openBeside(t, databaseUrl, one.adminKey, { webhookAllow: ['127.0.0.1'] })
  const living = [await open(), await open()]
  const servers: Node[] = [one, ...living]
  await one.putJobAndDevices('update', deviceIds)
  const devices = await Promise.all(deviceIds.map((id) => newDevice(one, id)))
  const receivers: WebhookReceiver[] = []
  /** The newest event when each of them was made. */
  const begin = new Map<WebhookReceiver, number>()
  const create = async () => {
    const index = receivers.length
    const receiver = await WebhookReceiver.open(t)
    receivers.push(receiver)
    const [newest] = await execute(databaseUrl, 'SELECT max(event_id)::int AS event_id FROM event')
    begin.set(receiver, newest?.event_id as number)
    const server = servers[index % servers.length] as Node
    const body = { url: receiver.url }
    assert.equal((await server.call('PUT', `/job/api/webhooks/w${index}`, { body })).status, 201)
  }
  while (receivers.length < leastWebhooks) await create()
  /** Up to now, but for presence: when that is written is not ours to say. Those of webhooks are not sent. */
  const eventIds = async () =>
    (
      await execute(
        databaseUrl,
        `SELECT event_id::int FROM event WHERE type NOT IN ('device.online', 'device.offline')
           AND type NOT LIKE 'webhook.%'`,
      )
    ).map((row) => row.event_id as number)
  const missing = (receiver: WebhookReceiver, ids: number[]) => {
    const accepted = new Set(receiver.accepted.map(({ event }) => event.eventId))
    return ids.filter((id) => id > (begin.get(receiver) ?? 0) && !accepted.has(id))
  }
  const allReceive = async (which: WebhookReceiver[]) => {
    const ids = await eventIds()
    for (const receiver of which) {
      await receiver.until('it has everything', () => missing(receiver, ids).length === 0)
      assertInOrder(receiver.accepted)
    }
    return ids.length
  }

  const carriers = async () => {
    const byName = await carriersOf(databaseUrl)
    return receivers.map((_, index) => byName.get(`w${index}`))
  }
  const allAreTaken = () => until('all are taken', async () => !(await carriers()).includes(undefined))
  await allAreTaken()
  for (let round = 0; round < 2; round++) await carryOutRun(servers, devices)
  await allReceive(receivers)
  // Nothing was wrong, so nothing came twice.
  for (const { received } of receivers)
    assert.equal(new Set(received.map(({ id }) => id)).size, received.length)

  let index = (await carriers()).indexOf(victim)
  for (; index < 0 && receivers.length < mostWebhooks; index = (await carriers()).indexOf(victim)) {
    await create()
    await allAreTaken()
  }
  assert.ok(index >= 0, 'the node that is killed has no webhook')
  const name = `w${index}`
  const working = carryOutRun(living, devices)
  const killed = performance.now()
  await node.kill()
  await working
  await carryOutRun(living, devices)
  const events = await allReceive(receivers)
  const goesOnMs = Math.round(performance.now() - killed)
  const later = (await carriersOf(databaseUrl)).get(name)
  assert.ok(later !== undefined && later !== victim)

  // Changes can be made on any node, whichever node delivers the webhook.
  const own = receivers[index] as WebhookReceiver
  const other = receivers.find((receiver) => receiver !== own) as WebhookReceiver
  for (const [round, server] of living.entries()) {
    const elsewhere = living[(round + 1) % living.length] as Node
    assert.equal((await server.call('POST', `/job/api/webhooks/${name}/pause`)).json.state, 'PAUSED')
    // What is in progress when it is paused may still come.
    await until('nobody has it', async () => !(await carriersOf(databaseUrl)).has(name))
    const before = own.received.length
    await carryOutRun(living, devices)
    await allReceive([other])
    assert.equal(own.received.length, before, 'it was sent something while it was paused')
    assert.equal((await elsewhere.call('POST', `/job/api/webhooks/${name}/resume`)).status, 200)
    await allReceive([own])
  }
  const moved = await WebhookReceiver.open(t)
  const change = { body: { url: moved.url } }
  assert.equal((await (living[1] as Node).call('PUT', `/job/api/webhooks/${name}`, change)).status, 200)
  const before = await eventIds()
  await carryOutRun(living, devices)
  const fresh = (await eventIds()).filter((id) => !before.includes(id))
  const hasAll = () =>
    missing(moved, fresh).every((id) => own.accepted.some(({ event }) => event.eventId === id))
  await moved.until('it has what is new', hasAll)
  assert.ok(moved.received.length > 0)
  t.diagnostic(`${events} events to each of ${receivers.length}; all delivered ${goesOnMs} ms after a kill`)
})

/** One run on all devices, each of which reports at any node. */
async function carryOutRun(servers: Node[], devices: DeviceCalls[]): Promise<void> {
  const at = (index: number) => servers[index % servers.length] as Node
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
