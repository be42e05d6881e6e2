// A retry never creates a second run. crash.test.ts checks this with kills.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { testSize } from '@jobcast/testkit/test-size'

const repeats = testSize('calls', { test: 200, chaos: 2000 })

test(`the same Idempotency-Key ${repeats} times, 50 at once, creates one run and returns equal bodies`, async (t) => {
  const api = await openServer(t)
  const devices = ['d1', 'd2', 'd3']
  await api.putJobAndDevices('restart', devices)
  const headers = { 'idempotency-key': 'the-same' }
  const bodies = new Set<string>()
  const locations = new Set<string | null>()
  let twins = 0
  let calls = 0
  const callUntilDone = async () => {
    while (calls++ < repeats) {
      const reply = await api.trigger('restart', devices, { headers })
      if (reply.status === 409) {
        assert.equal(reply.json.code, 'J-502')
        assert.ok(reply.headers.has('retry-after'))
        twins++
      } else {
        assert.equal(reply.status, 201, reply.text)
        bodies.add(reply.text)
        locations.add(reply.headers.get('location'))
      }
    }
  }
  await Promise.all(Array.from({ length: 50 }, callUntilDone))
  t.diagnostic(`${twins} calls met a twin that was still running`)
  assert.equal(bodies.size, 1)
  assert.equal(locations.size, 1)
  const runs = await api.call('GET', '/job/api/runs')
  assert.equal(runs.json.items.length, 1)
  assert.equal(runs.json.items[0].total, 3)
})

test('many keys at once, each with two bodies: one run a key, and the other body answers J-501', async (t) => {
  const api = await openServer(t)
  await api.putJobAndDevices('restart', ['d1', 'd2'])
  const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`)
  const calls = keys.flatMap((key) =>
    [['d1'], ['d1', 'd2'], ['d1'], ['d1', 'd2']].map((ids) => ({ key, ids })),
  )
  const replies = await Promise.all(
    calls.map(async ({ key, ids }) => {
      for (;;) {
        const reply = await api.trigger('restart', ids, { headers: { 'idempotency-key': key } })
        if (reply.status !== 409) return { key, status: reply.status, text: reply.text }
      }
    }),
  )
  const runs = (await api.call('GET', '/job/api/runs?limit=200')).json.items
  assert.equal(runs.length, keys.length)
  for (const [, ofKey] of Map.groupBy(replies, (reply) => reply.key)) {
    const made = ofKey.filter((reply) => reply.status === 201)
    const reused = ofKey.filter((reply) => reply.status === 422)
    assert.deepEqual([made.length, reused.length], [2, 2])
    assert.equal(made[0]?.text, made[1]?.text)
    assert.equal(JSON.parse(reused[0]?.text ?? '').code, 'J-501')
  }
})
