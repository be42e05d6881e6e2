// A lost hint only costs time: one of the nodes receives no hints of the others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { EventListener } from '@jobcast/testkit/event-listener'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import { type OpenServer, openServer } from '@jobcast/testkit/open-server'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { accepted } from '@jobcast/testkit/simulated-device'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { within } from '@jobcast/testkit/within'
import { newSecretText } from '../../src/domain/access/secret-text.ts'
import { connectDevice, isNext } from './connected-device.ts'
import { openDeafProxy } from './deaf-proxy.ts'
import { openNodes } from './open-nodes.ts'

// The guarantee is 5 s; this bound also holds on a busy machine.
const boundMs = 45_000

async function timeOf(what: string, work: Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await within(boundMs, what, work)
  return performance.now() - begun
}

test('a node that receives no hints delivers, ends waits, sends events, and closes revoked sessions', async (t) => {
  const databaseUrl = await createDatabase(await sharedPostgres())
  const adminKey = newSecretText('jc').text
  const proxy = await openDeafProxy(t, databaseUrl)
  const hears: OpenServer = await openServer(t, { adminKey, databaseUrl })
  const deaf: OpenServer = await openServer(t, { adminKey, databaseUrl: proxy.url })
  await hears.putJobAndDevices('restart', [])
  const times = new Map<string, number[]>()
  const note = (what: string, ms: number) => times.set(what, [...(times.get(what) ?? []), Math.round(ms)])

  /**
   * Triggered where it is heard; the device is where nothing is heard. A cancel comes just after a sweep has found its
   * execution, so it waits as long as anything ever does for the next one.
   */
  const deliver = async (index: number) => {
    const { token, deviceId } = await newDevice(hears, `mqtt-${index}`)
    const device = await connectDevice(t, deaf.server.mqtt, { deviceId, token })
    const [{ jobExecutionId }] = (await hears.trigger('restart', [deviceId])).json
    note('a delivery', await timeOf(`${deviceId} is told`, device.notice(isNext)))
    accepted(await device.line.request('start-next', {}))
    const canceling = device.notice((suffix) => suffix === `${jobExecutionId}/cancel`)
    assert.equal((await hears.call('POST', `/job/api/executions/${jobExecutionId}/cancel`)).status, 200)
    note('a cancel', await timeOf(`${deviceId} is notified of its cancel`, canceling))
  }
  const poll = async () => {
    const device = await newDevice(hears, 'polls')
    const { call } = at(deaf, device)
    const polling = call('GET', '?wait=60')
    assert.equal((await call('GET', '')).status, 200)
    await hears.trigger('restart', ['polls'])
    note('a long poll', await timeOf('the long poll is answered', polling))
  }
  const wait = async () => {
    const device = await newDevice(hears, 'waited-for')
    const [{ jobExecutionId }] = (await hears.trigger('restart', ['waited-for'])).json
    const path = `/job/api/executions/${jobExecutionId}`
    const waiting = deaf.call('GET', `${path}?wait=60`)
    assert.equal((await deaf.call('GET', path)).json.execState, 'PENDING')
    await device.startNext()
    await device.update(jobExecutionId, 'SUCCEEDED')
    note('a wait', await timeOf('the wait ends', waiting))
    assert.equal((await waiting).json.execState, 'SUCCEEDED')
  }
  const follow = async () => {
    const listener = await EventListener.open(deaf.http, adminKey)
    const created = hears.call('PUT', '/job/api/devices/event')
    const isTold = listener.until(() => listener.events.some(({ type }) => type === 'device.created'))
    note('an event', await timeOf('the listener hears of it', isTold))
    assert.equal((await created).status, 201)
    listener.close()
  }
  const revoke = async (way: 'mqtt' | 'http') => {
    const { token, deviceId } = await newDevice(hears, `revoked-${way}`)
    const line = await MqttLine.open(way === 'mqtt' ? deaf.server.mqtt : deaf.http, { deviceId, token })
    t.after(() => line.cut())
    assert.equal((await hears.call('DELETE', `/job/api/devices/${deviceId}/credential`)).status, 204)
    note('a revoked connection', await timeOf('it is closed', line.closed))
  }
  const revokePoll = async () => {
    const device = await newDevice(hears, 'revoked-poll')
    const { call } = at(deaf, device)
    const polling = call('GET', '?wait=60')
    assert.equal((await call('GET', '')).status, 200)
    assert.equal((await hears.call('DELETE', '/job/api/devices/revoked-poll/credential')).status, 204)
    note('a revoked long poll', await timeOf('the long poll ends', polling))
    assert.equal((await polling).status, 401)
  }
  const takeOver = async () => {
    const { token, deviceId } = await newDevice(hears, 'moves')
    const first = await MqttLine.open(deaf.server.mqtt, { deviceId, token })
    const second = await MqttLine.open(hears.server.mqtt, { deviceId, token })
    t.after(() => second.cut())
    note('a connection taken over', await timeOf('the first one is closed', first.closed))
    assert.equal(second.isClosed, false)
  }
  await Promise.all([
    ...Array.from({ length: 3 }, (_, index) => deliver(index)),
    poll(),
    wait(),
    follow(),
    revoke('mqtt'),
    revoke('http'),
    revokePoll(),
    takeOver(),
  ])
  assert.ok(proxy.swallowed() > 0, 'nothing was told')
  const slowest = [...times].map(([what, ms]) => `${what} ${Math.max(...ms)} ms`)
  t.diagnostic(`${proxy.swallowed()} messages lost; at most: ${slowest.join(', ')}`)
})

/** The same device at another node. */
const at = ({ http }: OpenServer, { deviceId, token }: DeviceCalls) => deviceCalls(http, deviceId, token)

test('commits of a node that ended before sending hints are announced by the others', async (t) => {
  const { databaseUrl, nodes } = await openNodes(t, 2, { webhookAllow: ['127.0.0.1'] })
  const [one, two] = nodes as [OpenServer, OpenServer]
  await one.call('PUT', '/job/api/devices/d1')
  const receiver = await WebhookReceiver.open(t)
  assert.equal((await one.call('PUT', '/job/api/webhooks/w', { body: { url: receiver.url } })).status, 201)
  const listener = await EventListener.open(two.http, two.adminKey)
  // As if it had been killed between the commit and its hint.
  await execute(
    databaseUrl,
    `INSERT INTO event (owner_no, at, type, device_no) SELECT owner_no, 1, 'device.updated', device_no FROM device`,
  )
  const isIt = ({ type }: { type: string }) => type === 'device.updated'
  const heard = await timeOf(
    'the listener hears of it',
    listener.until(() => listener.events.some(isIt)),
  )
  await receiver.until('it is sent', () => receiver.accepted.some(({ event }) => isIt(event)))
  listener.close()

  const polls = await newDevice(one, 'polls')
  const connected = await newDevice(one, 'connected')
  const line = await MqttLine.open(two.server.mqtt, connected)
  const polling = at(two, polls).call('GET', '?wait=60')
  assert.equal((await at(two, polls).call('GET', '')).status, 200)
  await execute(databaseUrl, 'UPDATE device SET token_id = NULL, token_hash = NULL')
  const closed = await Promise.all([
    timeOf('the connection is closed', line.closed),
    timeOf('the long poll ends', polling),
  ])
  assert.equal((await polling).status, 401)
  const [connection, poll] = closed.map(Math.round)
  t.diagnostic(
    `an event was heard of after ${Math.round(heard)} ms; a revoked connection was closed after ${connection} ms, a ` +
      `long poll after ${poll} ms`,
  )
})
