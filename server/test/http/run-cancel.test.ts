// A whole run is canceled with one call.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { testSize } from '@jobcast/testkit/test-size'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const devices = Array.from({ length: 5 }, (_, i) => `d${i}`)
await api.putJobAndDevices('update', devices)

async function launch(deviceIds = devices) {
  const reply = await api.trigger('update', deviceIds)
  const ids: number[] = reply.json.map((each: { jobExecutionId: number }) => each.jobExecutionId)
  return { path: reply.headers.get('location') as string, ids }
}
const cancel = (path: string, body?: unknown) => api.call('POST', `${path}/cancel`, { body })
const stateOf = async (id: number | undefined) =>
  (await api.call('GET', `/job/api/executions/${id}`)).json.execState

test('pending executions are CANCELED, and the response is the run', async () => {
  const { path, ids } = await launch()
  const reply = await cancel(path)
  assert.equal(reply.status, 200)
  assert.deepEqual([reply.json.counts.CANCELED, reply.json.finished], [5, true])
  assert.deepEqual((await api.call('GET', path)).json, reply.json)
  assert.equal(await stateOf(ids[4]), 'CANCELED')
})

test('running executions are CANCELING, with force CANCELED; ended ones do not change', async () => {
  const [one, two] = [await newDevice(api, 'one'), await newDevice(api, 'two')]
  const { path, ids } = await launch(['one', 'two', 'd0'])
  await one.startNext()
  await two.startNext()
  await two.update(ids[1] as number, 'SUCCEEDED')
  const asked = (await cancel(path)).json
  assert.deepEqual([asked.counts.CANCELING, asked.counts.CANCELED, asked.counts.SUCCEEDED], [1, 1, 1])
  assert.equal(asked.finished, false)
  const forced = (await cancel(path, { force: true })).json
  assert.deepEqual([forced.counts.CANCELED, forced.counts.SUCCEEDED, forced.finished], [2, 1, true])
  const late = await one.update(ids[0] as number, 'SUCCEEDED')
  assert.equal(late.headers.get('x-amzn-errortype'), 'InvalidStateTransitionException')
})

test('a second cancel while devices confirm changes nothing and is not an error', async () => {
  const device = await newDevice(api, 'slow')
  const { path } = await launch(['slow'])
  await device.startNext()
  const first = (await cancel(path)).json
  assert.deepEqual((await cancel(path)).json, first)
  await cancel(path, { force: true })
})

test('answers J-303 for a run that has finished, and J-304 for one that is not there', async () => {
  const { path } = await launch(['d0'])
  await cancel(path)
  assertRefused(await cancel(path), 'J-303')
  assertRefused(await cancel(path, { force: true }), 'J-303')
  assertRefused(await cancel('/job/api/runs/999999999'), 'J-304')
  assertRefused(await cancel('/job/api/runs/x'), 'J-500')
})

test('waiting callers and long polls of devices are notified of it', {
  timeout: 50_000,
}, async () => {
  const device = await newDevice(api, 'waiting')
  const { path } = await launch(['waiting', 'd1'])
  const waiting = api.call('GET', `${path}?wait=60`)
  await cancel(path)
  assert.equal((await waiting).json.finished, true)
  assert.deepEqual((await device.call('GET', '')).json.queuedJobs, [])
})

/** More than one step of a cancel takes. */
const count = testSize('devices', { test: 1200, chaos: 5000 })

test(`a run of ${count} is canceled completely`, async () => {
  const many = Array.from({ length: count }, (_, i) => `many-${i}`)
  await api.putJobAndDevices('update', many)
  const { path } = await launch(many)
  const { json } = await cancel(path)
  assert.deepEqual([json.counts.CANCELED, json.finished], [count, true])
})

for (const body of [{ force: 'yes' }, { all: true }, []]) {
  test(`answers J-500 to ${JSON.stringify(body)} and cancels nothing`, async () => {
    const { path } = await launch(['d2'])
    assertRefused(await cancel(path, body), 'J-500')
    assert.equal((await api.call('GET', path)).json.counts.PENDING, 1)
  })
}
