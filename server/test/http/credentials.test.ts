// The token of a device: made, replaced, revoked. Each change holds from the next request on.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const path = (deviceId: string) => `/job/api/devices/${deviceId}`
const credential = (method: string, deviceId: string) => api.call(method, `${path(deviceId)}/credential`)

test('DELETE returns 204 and the token becomes invalid at once; repeated it is also 204', async () => {
  const device = await newDevice(api, 'd1')
  assert.equal((await device.call('GET', '')).status, 200)
  assert.equal((await credential('DELETE', 'd1')).status, 204)
  assert.equal((await device.call('GET', '')).status, 401)
  assert.equal((await api.call('GET', path('d1'))).json.credentialCreatedAt, null)
  assert.equal((await credential('DELETE', 'd1')).status, 204)
})

test('the device can sign in with a new token, and the old one remains invalid', async () => {
  const old = await newDevice(api, 'd2')
  await credential('DELETE', 'd2')
  const { json } = await credential('POST', 'd2')
  assert.equal((await deviceCalls(api.http, 'd2', json.deviceToken).call('GET', '')).status, 200)
  assert.equal((await old.call('GET', '')).status, 401)
})

test('POST replaces the token: the previous one becomes invalid', async () => {
  const old = await newDevice(api, 'd3')
  const { json } = await credential('POST', 'd3')
  assert.equal((await old.call('GET', '')).status, 401)
  assert.equal((await deviceCalls(api.http, 'd3', json.deviceToken).call('GET', '')).status, 200)
})

test('DELETE of the device invalidates its token, also for a new device with the same id', async () => {
  const device = await newDevice(api, 'd4')
  await api.call('DELETE', path('d4'))
  assert.equal((await device.call('GET', '')).status, 401)
  await api.call('PUT', path('d4'))
  assert.equal((await device.call('GET', '')).status, 401)
})

test('a device is offline once its token is invalid, and a recreated one is online after a request', async () => {
  const isOnline = async () => (await api.call('GET', path('d7'))).json.online
  const device = await newDevice(api, 'd7')
  await device.call('GET', '')
  assert.equal(await isOnline(), true)
  await credential('DELETE', 'd7')
  assert.equal(await isOnline(), false)
  for (const method of ['POST', 'DELETE', 'PUT']) {
    if (method !== 'POST') await api.call(method, path('d7'))
    if (method === 'DELETE') continue
    const { json } = await credential('POST', 'd7')
    await deviceCalls(api.http, 'd7', json.deviceToken).call('GET', '')
    assert.equal(await isOnline(), true)
  }
})

test('a long poll ends at once when the token becomes invalid', { timeout: 50_000 }, async () => {
  const timesMs: number[] = []
  do {
    const device = await newDevice(api, 'd5')
    const waiting = device.call('GET', '?wait=60')
    // It must have been let in before; another request of the device tells that the server is past that.
    await device.call('GET', '')
    const begun = performance.now()
    await credential('DELETE', 'd5')
    assert.equal((await waiting).status, 401)
    timesMs.push(performance.now() - begun)
    // A look without a hint comes after five seconds. A busy machine may take as long once, but not each time.
  } while (Math.min(...timesMs) > 4000 && timesMs.length < 5)
  assert.ok(Math.min(...timesMs) < 4000, `it took ${timesMs} ms`)
})

test('pending executions remain when the token of a device is revoked', async () => {
  await api.putJobAndDevices('update', [])
  const device = await newDevice(api, 'd6')
  const [{ jobExecutionId }] = (await api.trigger('update', ['d6'])).json
  await credential('DELETE', 'd6')
  const kept = await api.call('GET', `/job/api/executions/${jobExecutionId}`)
  assert.equal(kept.json.execState, 'PENDING')
  const { json } = await credential('POST', 'd6')
  const again = deviceCalls(api.http, device.deviceId, json.deviceToken)
  assert.equal((await again.startNext()).json.execution.jobId, String(jobExecutionId))
})

test('answers J-001 for an unknown device', async () => {
  assertRefused(await credential('DELETE', 'nobody'), 'J-001')
})
