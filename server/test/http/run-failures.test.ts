// Why executions of a run did not succeed, over HTTP.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.call('PUT', '/job/api/jobs/update', { body: {} })

test('failures have their reasons, and what the devices have in common', async () => {
  const ids = ['f1', 'f2', 'f3', 'f4', 'f5', 'f6']
  const devices = []
  for (const id of ids) devices.push(await newDevice(api, id))
  for (const [index, deviceId] of ids.entries()) {
    const body = { deviceName: deviceId, tags: index < 3 ? ['old'] : [], attributes: { site: 'berlin' } }
    await api.call('PUT', `/job/api/devices/${deviceId}`, { body })
    const attributes = { fw: index < 3 ? '2.3' : '2.4', site: index < 3 ? 'x' : 'y' }
    const { token } = devices[index] ?? assert.fail()
    const reported = await fetch(`${api.http}/things/${deviceId}/attributes`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(attributes),
    })
    assert.ok(reported.ok)
  }
  const { json, headers } = await api.trigger('update', ids)
  const runId = Number(headers.get('location')?.split('/').at(-1))
  const executionIds = json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId)
  const path = `/job/api/runs/${runId}/failures`
  assert.deepEqual((await api.call('GET', path)).json, { total: 0, reasons: [], shared: [] })

  for (const device of devices.slice(0, 5)) await device.startNext()
  const statuses = ['FAILED', 'REJECTED', 'FAILED', 'SUCCEEDED', 'SUCCEEDED']
  const details = [{ reason: 'disk full' }, { reason: 'disk full' }, { code: '7', at: 'flash' }]
  for (const [index, status] of statuses.entries()) {
    const statusDetails = details[index]
    await devices[index]?.update(executionIds[index], status, statusDetails && { statusDetails })
  }
  // Never sent to its device.
  await api.call('POST', `/job/api/executions/${executionIds[5]}/cancel`)
  const reply = await api.call('GET', path)
  assert.equal(reply.status, 200)
  const all = { failed: 3, ofFailed: 3, succeeded: 0, ofSucceeded: 2 }
  assert.deepEqual(reply.json, {
    total: 3,
    reasons: [
      { reason: 'disk full', count: 2, sample: ['f1', 'f2'] },
      { reason: 'code 7, at flash', count: 1, sample: ['f3'] },
    ],
    shared: [
      { name: 'tag', value: 'old', ...all },
      { name: 'fw', value: '2.3', ...all },
      { name: 'reported.site', value: 'x', ...all },
    ],
  })
})

test('failures of an unknown run are J-304', async () => {
  assertRefused(await api.call('GET', '/job/api/runs/999999/failures'), 'J-304')
})
