// Simulated devices on a broker, which accepts requests even if the service is not running.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFleet } from '@jobcast/sim'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connect } from 'mqtt'

test('a device repeats requests and reports that nobody answers', { skip: withoutMosquitto }, async (t) => {
  const { url } = await openMosquitto(t)
  const pattern = { workSeconds: { from: 0, to: 0 }, outputLines: 0, failureRate: 0 }
  const broker = { topicPrefix: 'jobcast/things', repeatAfterMs: 50 }
  const fleet = startFleet({ mqtt: url, broker, devices: [{ deviceId: 'd1' }], pattern })
  t.after(() => fleet.stop())
  await fleet.whenUp()

  // In place of the service, which is late and answers only the third report.
  const service = connect(url)
  t.after(() => service.endAsync(true))
  const jobs = 'jobcast/things/d1/jobs'
  const ends: string[] = []
  service.on('message', (topic, payload) => {
    const { status, clientToken } = JSON.parse(payload.toString())
    const execution = { jobId: '7', executionNumber: 1, jobDocument: {} }
    if (topic === `${jobs}/start-next`)
      service.publish(`${topic}/accepted`, JSON.stringify(ends.length < 3 ? { execution } : {}))
    else if (status === 'SUCCEEDED') ends.push(clientToken)
    if (ends.length === 3 && status !== undefined)
      service.publish(`${topic}/accepted`, JSON.stringify({ clientToken }))
  })
  await service.subscribeAsync([`${jobs}/start-next`, `${jobs}/7/update`])
  await waitUntil('the end is confirmed', () => fleet.counts().ended.SUCCEEDED === 1)
  assert.equal(ends.length, 3)
  assert.equal(fleet.counts().working, 0)
})
