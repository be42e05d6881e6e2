// One node gets no responses from the database any more: connections are not refused, but no data arrives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { execute } from '@jobcast/testkit/postgres-server'
import { longTest } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { openNodes } from './open-nodes.ts'

// The promise is about 6 s; this is one that also a busy machine keeps. Without the check calls wait for longer.
const boundMs = 45_000
const useAnotherServer = 0x9c

/** The last of them has its way to the database through the proxy. All know of each other. */
async function openBehindProxy(t: Parameters<typeof openNodes>[0], count: number) {
  let database: string | undefined
  const proxy = await openCuttingProxy(t, () => database)
  const { databaseUrl, nodes } = await openNodes(t, count, {}, (index, url) => {
    database = url
    if (index < count - 1) return {}
    const through = new URL(url)
    through.host = new URL(proxy.url).host
    return { databaseUrl: through.href }
  })
  const firstBeat = async () => {
    const [row] = await execute(databaseUrl, 'SELECT min(beat_at) AS at FROM node')
    return Number(row?.at)
  }
  const begun = await firstBeat()
  await waitUntil('two heartbeats later', async () => (await firstBeat()) > begun + 2500, { intervalMs: 50 })
  return { proxy, nodes }
}

const triggers = (api: OpenServer) => async () => (await api.trigger('restart', ['d1'])).status === 201

test(
  'a node that is cut off refuses calls and sends its devices elsewhere, until it has the database again',
  longTest,
  async (t) => {
    const { proxy, nodes } = await openBehindProxy(t, 2)
    const [sound, cutOff] = nodes as [OpenServer, OpenServer]
    await sound.putJobAndDevices('restart', ['d1'])
    const tokens = await Promise.all(['d1', 'd2', 'd3'].map(async (id) => (await newDevice(sound, id)).token))
    const [one = '', two = '', three = ''] = tokens
    const byMqtt = await MqttLine.open(cutOff.server.mqtt, { deviceId: 'd1', token: one })
    const byWebSocket = await MqttLine.open(cutOff.http, { deviceId: 'd2', token: two })
    const elsewhere = await MqttLine.open(sound.server.mqtt, { deviceId: 'd3', token: three })
    t.after(() => {
      for (const line of [byMqtt, byWebSocket, elsewhere]) line.cut()
    })
    const polled = deviceCalls(cutOff.http, 'd3', three).call('GET', '?wait=60')

    proxy.stall()
    t.after(() => proxy.resume())
    const refused = await within(boundMs, 'the trigger waits', cutOff.trigger('restart', ['d1']))
    assert.deepEqual([refused.status, refused.json.code], [503, 'J-909'])
    for (const line of [byMqtt, byWebSocket]) {
      await within(boundMs, 'the device stays connected', line.closed)
      assert.equal(line.disconnectCode, useAnotherServer)
    }
    assert.equal((await within(boundMs, 'the device waits', polled)).status, 503)
    const timesMs: number[] = []
    do {
      const begun = performance.now()
      assert.equal((await cutOff.trigger('restart', ['d1'])).status, 503)
      timesMs.push(performance.now() - begun)
      // One that waits for the database takes longer each time, a busy machine not.
    } while (Math.min(...timesMs) > 2000 && timesMs.length < 5)
    assert.ok(Math.min(...timesMs) < 2000, `it took ${timesMs} ms`)
    assert.equal((await cutOff.call('GET', '/readyz')).status, 503)
    assert.equal((await cutOff.call('GET', '/livez')).status, 200)

    assert.ok(await triggers(sound)())
    assert.equal(elsewhere.isClosed, false)

    proxy.resume()
    t.diagnostic(`recovered after ${await waitUntil('it triggers', triggers(cutOff), { intervalMs: 50 })} ms`)
    assert.equal((await sound.call('GET', '/job/api/runs')).json.items.length, 2)
    const again = await MqttLine.open(cutOff.server.mqtt, { deviceId: 'd1', token: one })
    again.cut()
  },
)

test('one that is alone refuses calls and keeps its devices', longTest, async (t) => {
  const { proxy, nodes } = await openBehindProxy(t, 1)
  const [node] = nodes as [OpenServer]
  await node.putJobAndDevices('restart', ['d1'])
  const { token } = await newDevice(node, 'd1')
  const line = await MqttLine.open(node.server.mqtt, { deviceId: 'd1', token })
  t.after(() => line.cut())
  proxy.stall()
  t.after(() => proxy.resume())
  const { status } = await within(boundMs, 'the trigger waits', node.trigger('restart', ['d1']))
  assert.equal(status, 503)
  proxy.resume()
  await waitUntil('it triggers', triggers(node), { intervalMs: 50 })
  assert.equal(line.isClosed, false)
})
