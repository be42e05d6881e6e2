// Credentials revoked on one node are refused on all others.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { MqttLine, NotLetIn } from '@jobcast/testkit/mqtt-line'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { deviceFilters } from '@jobcast/testkit/simulated-device'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import { openNodes } from './open-nodes.ts'

/** Nine are each way of becoming void by each way to connect. */
const rounds = testSize('rounds', { test: 9, chaos: 150 })
// The guarantee is 5 s; this bound also holds on a busy machine.
const boundMs = 45_000

const { nodes } = await openNodes({ after }, 2)
const [one, two] = nodes as [OpenServer, OpenServer]

const latest = (times: number[]) => `${Math.round(Math.max(...times))} ms`

test(`${rounds} keys revoked at one node are refused by the next call at another`, longTest, async (t) => {
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

const trigger = (deviceId: string, jobName = 'restart') => JSON.stringify({ jobName, deviceIds: [deviceId] })
const bodies = {
  'a device': trigger('d1'),
  'an unknown device': trigger('nobody'),
  'an unknown job': trigger('d1', 'nothing'),
  'no JSON': '{"jobName":',
}

/** Without what differs from one answer to the next. */
async function answerTo(node: OpenServer, apiKey: string, body: string, more: string[] = []) {
  const lines = [
    'POST /job/api/jobs/execute HTTP/1.1',
    ...['host: x', `x-api-key: ${apiKey}`, 'content-type: application/json'],
    ...[`content-length: ${Buffer.byteLength(body)}`, ...more],
  ]
  const { status, head, body: text } = await sendRaw(node.http, `${lines.join('\r\n')}\r\n\r\n${body}`)
  const headers = head.split('\r\n').filter((line) => !/^(?:date|x-request-id):/i.test(line))
  return { status, headers: headers.sort(), text }
}

// Triggers do not look up a key that the node remembers.
test(`a key revoked at one node triggers nothing more at another, whatever is sent`, longTest, async (t) => {
  await one.putJobAndDevices('restart', ['d1'])
  for (const [title, body] of Object.entries(bodies)) {
    await t.test(title, async () => {
      const { keyId, apiKey } = await one.newKey(['TRIGGER'])
      for (let times = 0; times < 3; times++)
        assert.equal((await answerTo(two, apiKey, trigger('d1'))).status, 201)
      let isRevoked = false
      const busy = Promise.all(
        Array.from({ length: 4 }, async () => {
          for (;;) {
            const wasRevoked = isRevoked
            const { status } = await answerTo(two, apiKey, trigger('d1'))
            if (wasRevoked) return assert.equal(status, 403)
          }
        }),
      )
      assert.equal((await one.call('DELETE', `/job/api/keys/${keyId}`)).status, 204)
      isRevoked = true
      const refused = await answerTo(two, apiKey, body)
      assert.equal(refused.status, 403)
      assert.equal(JSON.parse(refused.text).code, 'J-802')
      assert.deepEqual(refused, await answerTo(two, apiKey, body, ['x-other: 1']))
      await busy
    })
    await t.test(`${title}, and nothing else was sent since`, async () => {
      const { keyId, apiKey } = await one.newKey(['TRIGGER'])
      assert.equal((await answerTo(two, apiKey, trigger('d1'))).status, 201)
      assert.equal((await one.call('DELETE', `/job/api/keys/${keyId}`)).status, 204)
      const refused = await answerTo(two, apiKey, body)
      assert.deepEqual(refused, await answerTo(two, apiKey, body, ['x-other: 1']))
      assert.equal(JSON.parse(refused.text).code, 'J-802')
    })
  }
  await t.test('a body that does not come', async () => {
    const { keyId, apiKey } = await one.newKey(['TRIGGER'])
    assert.equal((await answerTo(two, apiKey, trigger('d1'))).status, 201)
    assert.equal((await one.call('DELETE', `/job/api/keys/${keyId}`)).status, 204)
    const head = `POST /job/api/jobs/execute HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n`
    const begun = `${head}content-type: application/json\r\ncontent-length: 50\r\n\r\n{`
    assert.equal((await sendRaw(two.http, begun)).status, 403)
  })
  await t.test('another key of the same owner continues', async () => {
    const { apiKey } = await one.newKey(['TRIGGER'])
    assert.equal((await answerTo(two, apiKey, trigger('d1'))).status, 201)
    const { keyId } = await one.newKey(['TRIGGER'])
    assert.equal((await one.call('DELETE', `/job/api/keys/${keyId}`)).status, 204)
    assert.equal((await answerTo(two, apiKey, trigger('d1'))).status, 201)
    const unknown = await answerTo(two, apiKey, trigger('d1', 'nothing'))
    assert.equal(JSON.parse(unknown.text).code, 'J-301')
  })
})

test(
  `${rounds} tokens revoked, replaced or deleted at one node end what is open at another`,
  longTest,
  async (t) => {
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
