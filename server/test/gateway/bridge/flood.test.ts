// A device that exceeds its rate limit, next to one that does not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { testSize } from '@jobcast/testkit/test-size'
import { BrokerDevice, openBridged } from './bridge-under-test.ts'

const options = { skip: withoutMosquitto }
const noLimits = { address: 0, 'sign-in': 0, key: 0, owner: 0, device: 0, session: 0 }
const messages = testSize('flood', { test: 1500, chaos: 20_000 })

test('a device that floods is throttled, and others are served', options, async (t) => {
  const { putJobAndDevices, broker } = await openBridged(
    t,
    {},
    { rates: { ...noLimits, device: 2 } },
    brokerOptions,
  )
  await putJobAndDevices('hello', ['loud', 'quiet'])
  const loud = await BrokerDevice.open(t, broker.url, 'loud')
  const quiet = await BrokerDevice.open(t, broker.url, 'quiet')
  const begun = performance.now()
  await Promise.all(Array.from({ length: 100 }, () => loud.publish('jobs/get', '{}')))
  assert.equal((await loud.next('jobs/get/rejected')).json.code, 'RequestThrottled')
  assert.equal((await quiet.request('jobs/get')).topic, 'jobs/get/accepted')
  // One a second is answered.
  const seconds = Math.ceil((performance.now() - begun) / 1000)
  assert.ok(loud.messages.filter(({ topic }) => topic === 'jobs/get/rejected').length < 10 + seconds)
})

const reports = [
  ['jobs/1/update', '{"status":"IN_PROGRESS"}'],
  ['jobs/1/output', '{"offset":0,"data":"x"}'],
  ['jobs/1/output', JSON.stringify({ offset: 0, data: 'x'.repeat(60_000) })],
] as const

// By default mosquitto drops what it cannot queue; and to save its queues for each message would take it most of its time.
const brokerOptions = {
  settings: ['max_queued_messages 0', 'autosave_on_changes false', 'autosave_interval 1800'],
}

// Of 2 a second these would take a quarter of an hour to be served.
for (const device of [2, 0])
  test(
    `a flood of ${messages} reports, at a rate of ${device || 'any'}, holds up nobody else`,
    options,
    async (t) => {
      const rates = { ...noLimits, device }
      const { putJobAndDevices, call, broker } = await openBridged(t, {}, { rates }, brokerOptions)
      await putJobAndDevices('hello', ['loud', 'quiet'])
      const loud = await BrokerDevice.open(t, broker.url, 'loud')
      const quiet = await BrokerDevice.open(t, broker.url, 'quiet')
      const published: Promise<void>[] = []
      for (let each = 0; each < messages; each++) {
        const [topic, payload] = reports[each % (each % 20 ? 2 : 3)] ?? reports[0]
        published.push(loud.publish(topic, payload))
      }
      const tookMs: number[] = []
      for (let each = 0; each < 5; each++) {
        const askedAt = performance.now()
        assert.equal((await quiet.request('jobs/get')).topic, 'jobs/get/accepted')
        tookMs.push(Math.round(performance.now() - askedAt))
      }
      t.diagnostic(`others were answered after ${tookMs.join(', ')} ms`)
      await Promise.all(published)
      if (device > 0) await loud.next((_topic, { code }) => code === 'RequestThrottled')
      // All of it is acknowledged: whoever asks last is answered as well.
      assert.equal((await quiet.request('jobs/get')).topic, 'jobs/get/accepted')
      const { text } = await call('GET', '/metrics')
      assert.match(text, /jobcast_bridge_dropped_messages\{bridge="b1"\} 0/)
    },
  )
