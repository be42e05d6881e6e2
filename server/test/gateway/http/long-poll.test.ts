// ?wait=: a device without a permanent connection gets new executions immediately.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { testSize } from '@jobcast/testkit/test-size'

const api = await openSharedServer()
await api.putJobAndDevices('update', [])
let devices = 0
const one = () => newDevice(api, `d${++devices}`)

test('what is pending is answered at once', { timeout: 50_000 }, async () => {
  const device = await one()
  const [{ jobExecutionId }] = (await api.trigger('update', [device.deviceId])).json
  const { json } = await device.call('GET', '?wait=60')
  assert.equal(json.queuedJobs[0].jobId, String(jobExecutionId))
})

test('what is in progress on the device is answered at once too: it may have lost it', {
  timeout: 50_000,
}, async () => {
  const device = await one()
  await api.trigger('update', [device.deviceId])
  await device.startNext()
  assert.equal((await device.call('GET', '?wait=60')).json.inProgressJobs.length, 1)
})

test('what is triggered while it waits is answered then', { timeout: 50_000 }, async () => {
  const device = await one()
  let answered = false
  const waiting = device.call('GET', '?wait=60').finally(() => {
    answered = true
  })
  await device.call('GET', '')
  assert.equal(answered, false)
  const [{ jobExecutionId }] = (await api.trigger('update', [device.deviceId])).json
  assert.equal((await waiting).json.queuedJobs[0].jobId, String(jobExecutionId))
})

test('what waits for its retry is answered when its rest is over', { timeout: 50_000 }, async () => {
  await api.call('PUT', '/job/api/jobs/retried', { body: { retry: { max: 1, backoffSeconds: 1 } } })
  const device = await one()
  const [{ jobExecutionId }] = (await api.trigger('retried', [device.deviceId])).json
  await device.startNext()
  await device.update(jobExecutionId, 'FAILED')
  assert.deepEqual((await device.call('GET', '')).json.queuedJobs, [])
  const { json } = await device.call('GET', '?wait=60')
  assert.deepEqual(
    json.queuedJobs.map((each: { jobId: string; executionNumber: number }) => [
      each.jobId,
      each.executionNumber,
    ]),
    [[String(jobExecutionId), 2]],
  )
})

test('when the time is over the lists are empty', async () => {
  const device = await one()
  const begun = performance.now()
  const { status, json } = await device.call('GET', '?wait=1')
  assert.ok(performance.now() - begun > 900)
  assert.deepEqual([status, json.inProgressJobs, json.queuedJobs], [200, [], []])
})

test('a trigger for others does not end the wait', async () => {
  const [device, other] = [await one(), await one()]
  const waiting = device.call('GET', '?wait=1')
  await api.trigger('update', [other.deviceId])
  assert.deepEqual((await waiting).json.queuedJobs, [])
})

for (const wait of ['61', '-1', '1.5', '', 'x', '1e1', '5&wait=6']) {
  test(`answers 400 to ?wait=${wait}`, async () => {
    const device = await one()
    const reply = await device.call('GET', `?wait=${wait}`)
    assert.deepEqual([reply.status, reply.headers.get('x-amzn-errortype')], [400, 'InvalidRequestException'])
  })
}

test('the device is deleted while it waits: it is refused', { timeout: 50_000 }, async () => {
  const device = await one()
  const waiting = device.call('GET', '?wait=60')
  await device.call('GET', '')
  await api.call('DELETE', `/job/api/devices/${device.deviceId}`)
  assert.ok([401, 404].includes((await waiting).status))
})

test('a device that disconnects while it waits affects no other, and gets what is pending with its next request', async () => {
  const device = await one()
  const leaving = new AbortController()
  const left = device.call('GET', '?wait=60', undefined, { signal: leaving.signal })
  await device.call('GET', '')
  leaving.abort()
  await assert.rejects(left)
  await api.trigger('update', [device.deviceId])
  assert.equal((await device.call('GET', '?wait=60')).json.queuedJobs.length, 1)
})

const count = testSize('devices', { test: 100, chaos: 1000 })

test(`${count} devices wait at once, and one trigger reaches them all`, async () => {
  const fleet = await Promise.all(Array.from({ length: count }, one))
  const waiting = fleet.map((device) => device.call('GET', '?wait=60'))
  await Promise.all(fleet.map((device) => device.call('GET', '')))
  await api.trigger(
    'update',
    fleet.map(({ deviceId }) => deviceId),
  )
  for (const { json } of await Promise.all(waiting)) assert.equal(json.queuedJobs.length, 1)
})

test('waiting requests are answered when the service stops', { timeout: 50_000 }, async (t) => {
  const stopping = await openServer(t)
  const device = await newDevice(stopping, 'd1')
  const waiting = device.call('GET', '?wait=60')
  await device.call('GET', '')
  await stopping.server.stop()
  const { status, json } = await waiting
  assert.deepEqual([status, json.queuedJobs], [200, []])
})
