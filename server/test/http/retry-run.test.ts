// POST /job/api/runs/{runId}/retry: another run for unsuccessful executions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['canceled', 'waits'])
const [good, bad] = [await newDevice(api, 'good'), await newDevice(api, 'bad')]

/** One succeeded, one failed, one canceled, one that still waits. */
async function launch() {
  const reply = await api.trigger('update', ['good', 'bad', 'canceled', 'waits'])
  const ids: number[] = reply.json.map((each: { jobExecutionId: number }) => each.jobExecutionId)
  await good.update(ids[0] as number, 'SUCCEEDED')
  await bad.update(ids[1] as number, 'FAILED')
  await api.call('POST', `/job/api/executions/${ids[2]}/cancel`)
  return reply.headers.get('location') as string
}
const runIdOf = (path: string) => Number(path.split('/').at(-1))
const retry = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', `${path}/retry`, { body, headers })
const devicesOf = async (runId: number) => {
  const { items } = (await api.call('GET', `/job/api/executions?runId=${runId}`)).json
  return items.map((each: { deviceId: string }) => each.deviceId).sort()
}

test('creates a run of the unsuccessful executions, linked to the old one', async () => {
  const path = await launch()
  const reply = await retry(path)
  assert.equal(reply.status, 201)
  const { runId, jobName, total, finished, retryOf } = reply.json
  assert.deepEqual([jobName, total, finished, retryOf], ['update', 2, false, runIdOf(path)])
  assert.equal(reply.headers.get('location'), `/job/api/runs/${runId}`)
  assert.deepEqual(await devicesOf(runId), ['bad', 'canceled'])
  assert.deepEqual((await api.call('GET', `/job/api/runs/${runId}`)).json, reply.json)
  assert.equal((await api.call('GET', path)).json.retryOf, null)
})

test('takes only the named ones of them', async () => {
  const path = await launch()
  const { runId } = (await retry(path, { deviceIds: ['bad', 'good'] })).json
  assert.deepEqual(await devicesOf(runId), ['bad'])
  assertRefused(await retry(path, { deviceIds: ['good'] }), 'J-305')
})

test('with an Idempotency-Key a repeated call makes nothing; the key is for this call only', async () => {
  const path = await launch()
  const headers = { 'idempotency-key': 'again-1' }
  const first = await retry(path, {}, headers)
  const second = await retry(path, undefined, headers)
  assert.deepEqual([second.status, second.json], [201, first.json])
  assertRefused(await retry(path, { deviceIds: ['bad'] }, headers), 'J-501')
})

test('skips deleted devices, and is refused if none is left', async () => {
  await api.putJobAndDevices('update', ['leaves', 'stays'])
  const made = await api.trigger('update', ['leaves', 'stays'])
  const path = made.headers.get('location') as string
  await api.call('POST', `${path}/cancel`)
  await api.call('DELETE', '/job/api/devices/leaves')
  const { runId } = (await retry(path)).json
  assert.deepEqual(await devicesOf(runId), ['stays'])
  await api.call('DELETE', '/job/api/devices/stays')
  assertRefused(await retry(path), 'J-305')
})

test('answers J-304, J-305, J-500, J-301 and J-804', async () => {
  assertRefused(await retry('/job/api/runs/999999999'), 'J-304')
  const { key } = await api.newOwner('stranger')
  const path = await launch()
  assertRefused(await api.call('POST', `${path}/retry`, { key }), 'J-304')
  assertRefused(await retry(path, { what: 1 }), 'J-500')
  assertRefused(await retry(path, { deviceIds: [] }), 'J-500')
  const { apiKey } = await api.newKey(['READ', 'MANAGE'])
  const refused = await api.call('POST', `${path}/retry`, { key: apiKey })
  assert.deepEqual([refused.status, refused.json.code], [403, 'J-804'])

  await api.putJobAndDevices('goes', [])
  const going = await api.trigger('goes', ['canceled'])
  const goingPath = going.headers.get('location') as string
  assertRefused(await retry(goingPath), 'J-305')
  await api.call('POST', `${goingPath}/cancel`)
  await api.call('DELETE', '/job/api/jobs/goes')
  assertRefused(await retry(goingPath), 'J-301')
})

test('a repeated call with its key is answered as the first one, also when the devices are gone', async () => {
  await api.putJobAndDevices('update', ['first', 'second'])
  const path = (await api.trigger('update', ['first', 'second'])).headers.get('location') as string
  await api.call('POST', `${path}/cancel`)
  const headers = { 'idempotency-key': 'again-2' }
  const first = await retry(path, {}, headers)
  assert.equal(first.status, 201)
  // Of the same run, so that its counts stay as they are.
  await api.call('POST', `/job/api/runs/${first.json.runId}/cancel`)
  const { runId, total } = first.json
  for (const deviceId of ['first', 'second']) {
    await api.call('DELETE', `/job/api/devices/${deviceId}`)
    const again = await retry(path, {}, headers)
    assert.deepEqual([again.status, again.json.runId, again.json.total], [201, runId, total])
  }
  assertRefused(await retry(path, { deviceIds: ['first'] }, headers), 'J-501')
  assertRefused(await retry(path, {}, { 'idempotency-key': 'another' }), 'J-305')
})
