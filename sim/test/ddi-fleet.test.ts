// Simulated hawkBit devices against a real server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { startDdiFleet } from '../src/index.ts'

const api = await openSharedServer({ ddiPollSeconds: 1 })
await api.call('PUT', '/job/api/files/app/1', { rawBody: 'x', headers: { 'content-type': 'text/plain' } })
await api.call('PUT', '/job/api/jobs/update', { body: { document: { files: ['app'] } } })

test('they poll, work, report and stop; one with another token is refused, one that is canceled confirms', async (t) => {
  const ids = ['ddi-1', 'ddi-2', 'ddi-3', 'ddi-slow']
  const devices = []
  for (const deviceId of ids) {
    const { token: deviceToken } = await newDevice(api, deviceId)
    devices.push({ deviceId, deviceToken })
  }
  const slow = { workSeconds: { from: 3000, to: 3000 } }
  const given = devices.map((device) =>
    device.deviceId === 'ddi-slow' ? { ...device, pattern: slow } : device,
  )
  const failing = { deviceId: 'ddi-none', deviceToken: 'x' }
  const fleet = startDdiFleet({
    ...{ server: api.http, tenant: 'default', devices: [...given, failing], seed: 1 },
    pattern: { workSeconds: { from: 0.05, to: 0.1 } },
  })
  t.after(() => fleet.stop())
  await fleet.whenUp()
  const { online, refused } = fleet.counts()
  assert.deepEqual([online, refused], [4, 1])
  const { json } = await api.trigger('update', ids)
  const slowId = json[3].jobExecutionId
  const stateOf = async (id: number) => (await api.call('GET', `/job/api/executions/${id}`)).json.execState
  await waitUntil('three have succeeded', () => fleet.counts().ended.SUCCEEDED === 3)
  await waitUntil('the slow one works', async () => (await stateOf(slowId)) === 'IN_PROGRESS')
  await api.call('POST', `/job/api/executions/${slowId}/cancel`)
  await waitUntil('it is canceled', () => fleet.counts().ended.CANCELED === 1)
  assert.equal(await stateOf(slowId), 'CANCELED')
  assert.equal(await stateOf(json[0].jobExecutionId), 'SUCCEEDED')
  await fleet.stop()
  assert.equal(fleet.counts().online, 0)
})
