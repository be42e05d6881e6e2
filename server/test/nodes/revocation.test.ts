// What is revoked at one node is refused at all others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { MqttLine, NotLetIn } from '@jobcast/testkit/mqtt-line'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { deviceFilters } from '@jobcast/testkit/simulated-device'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import { openNodes } from './open-nodes.ts'

/** Nine are each way of becoming void by each way to connect. */
const rounds = testSize('rounds', { test: 9, chaos: 150 })
// The promise is 5 s; this is one that also a busy machine keeps.
const boundMs = 45_000

const latest = (times: number[]) => `${Math.round(Math.max(...times))} ms`

test(`${rounds} keys revoked at one node are refused by the next call at another`, longTest, async (t) => {
  const [one, two] = (await openNodes(t, 2)).nodes as [OpenServer, OpenServer]
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { keyId, apiKey } = await one.newKey(['READ'])
    const read = (node: OpenServer) => node.call('GET', '/job/api/jobs', { key: apiKey })
    assert.equal((await read(two)).status, 200)
    // Others with the same key are on their way all the time.
    let isOver = false
    const busy = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) await read(two)
      }),
    )
    const begun = performance.now()
    assert.equal((await one.call('DELETE', `/job/api/keys/${keyId}`)).status, 204)
    const { status, json } = await read(two)
    times.push(performance.now() - begun)
    isOver = true
    await busy
    assert.deepEqual([status, json.code], [403, 'J-802'])
  }
  t.diagnostic(`revoked and refused in at most ${latest(times)}`)
})

test(
  `${rounds} tokens revoked, replaced or deleted at one node end what is open at another`,
  longTest,
  async (t) => {
    const [one, two] = (await openNodes(t, 2)).nodes as [OpenServer, OpenServer]
    const path = '/job/api/devices/d1'
    const ways: ((api: OpenServer) => Promise<{ status: number }>)[] = [
      (api) => api.call('DELETE', `${path}/credential`),
      (api) => api.call('POST', `${path}/credential`),
      (api) => api.call('DELETE', path),
    ]
    const times = { mqtt: [] as number[], WebSocket: [] as number[], 'long poll': [] as number[] }
    for (let round = 0; round < rounds; round++) {
      const { token } = await newDevice(one, 'd1')
      const makeVoid = ways[round % ways.length] as (typeof ways)[0]
      const signIn = { deviceId: 'd1', token }
      const way = (['mqtt', 'WebSocket', 'long poll'] as const)[Math.floor(round / 3) % 3] ?? 'mqtt'
      const address = way === 'mqtt' ? two.server.mqtt : two.http
      const there = deviceCalls(two.http, 'd1', token)
      let ended: Promise<unknown>
      if (way === 'long poll') {
        ended = there
          .call('GET', '?wait=60')
          .then(({ status }) => assert.ok(status === 401 || status === 404))
        // The request after it is answered, so it has arrived.
        assert.equal((await there.call('GET', '')).status, 200)
      } else {
        const line = await MqttLine.open(address, signIn)
        await line.subscribe(...deviceFilters)
        ended = line.closed
      }
      const begun = performance.now()
      const { status } = await makeVoid(one)
      assert.ok(status < 300)
      await within(boundMs, `it stays open by ${way}`, ended)
      times[way].push(performance.now() - begun)
      assert.equal((await there.call('GET', '')).status, 401)
      await assert.rejects(MqttLine.open(two.server.mqtt, signIn), NotLetIn)
    }
    const said = Object.entries(times).map(([way, ms]) => `${way} ${latest(ms)}`)
    t.diagnostic(`closed after at most: ${said.join(', ')}`)
  },
)
