import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RegisterRefused, registerDevices } from '@jobcast/sim'
import { openServer } from '@jobcast/testkit/open-server'
import { deviceIdsUpTo } from './support/simulate.ts'

test('registers devices with their tag, and again with new tokens', async (t) => {
  const { call } = await openServer(t)
  const deviceIds = deviceIdsUpTo(250)
  const first = await registerDevices(call, deviceIds)
  assert.deepEqual(
    first.map(({ deviceId }) => deviceId),
    deviceIds,
  )
  assert.deepEqual((await call('GET', '/job/api/devices/sim-7')).json.tags, ['simulated'])
  const second = await registerDevices(call, deviceIds)
  assert.notEqual(second[6]?.deviceToken, first[6]?.deviceToken)
})

test('leaves a device alone that somebody made, and makes none then', async (t) => {
  const { call } = await openServer(t)
  await call('PUT', '/job/api/devices/sim-2', { body: { tags: ['mine'] } })
  await assert.rejects(registerDevices(call, deviceIdsUpTo(3)), RegisterRefused)
  const { items } = (await call('GET', '/job/api/devices')).json
  assert.deepEqual(
    items.map(({ deviceId, tags }: { deviceId: string; tags: string[] }) => [deviceId, tags]),
    [['sim-2', ['mine']]],
  )
})

test('says what the server answered when the key may not do it', async (t) => {
  const server = await openServer(t)
  const { apiKey } = await server.newKey(['READ'])
  const callWithLess = (method: string, path: string, options = {}) =>
    server.call(method, path, { ...options, key: apiKey })
  await assert.rejects(registerDevices(callWithLess, ['sim-1']), /403.*J-804/)
})
