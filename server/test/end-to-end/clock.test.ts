// The effects of a wrong clock.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'

const hour = 60 * 60 * 1000
const jumps = [1000, -1000, hour, -hour, 24 * hour, -24 * hour, -24 * hour, 48 * hour]

test('ids grow, lists keep their order and keys remain valid while the clock jumps', async (t) => {
  let clock = Date.UTC(2026, 10, 15)
  const api = await openServer(t, { now: () => clock })
  await api.putJobAndDevices('restart', ['d1'])
  const ids: number[] = []
  for (const jump of [0, ...jumps]) {
    clock += jump
    const reply = await api.trigger('restart', ['d1'])
    assert.equal(reply.status, 201)
    assert.equal(reply.json[0].launchedAt, new Date(clock).toISOString().slice(0, 19))
    ids.unshift(reply.json[0].jobExecutionId)
  }
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  )
  for (const query of ['', '?deviceId=d1', '?execState=PENDING', '?jobName=restart']) {
    const { items } = (await api.call('GET', `/job/api/executions${query}`)).json
    assert.deepEqual(
      items.map((execution: { jobExecutionId: number }) => execution.jobExecutionId),
      ids,
    )
  }
})

test('an Idempotency-Key is valid for a day of elapsed time, however the clock is set, and across restarts', async (t) => {
  const begun = Date.UTC(2026, 10, 15)
  const dataFolder = newTemporaryFolder()
  removeAfter(t, dataFolder)
  let clock = begun
  let passed = 0
  const open = () => openServer(t, { dataFolder, now: () => clock, elapsed: () => passed })
  let api = await open()
  await api.putJobAndDevices('restart', ['d1'])
  const headers = { 'idempotency-key': 'k' }
  const first = await api.trigger('restart', ['d1'], { headers })
  for (const jump of [-1000, hour, -24 * hour, 25 * hour, 400 * 24 * hour]) {
    clock = begun + jump
    assert.equal((await api.trigger('restart', ['d1'], { headers })).text, first.text)
  }
  await api.server.stop()
  api = await open()
  passed += 24 * hour - 1
  assert.equal((await api.trigger('restart', ['d1'], { headers })).text, first.text)
  assert.equal((await api.call('GET', '/job/api/runs')).json.items.length, 1)
  // On PostgreSQL real time passes as well.
  passed += hour
  assert.notEqual((await api.trigger('restart', ['d1'], { headers })).text, first.text)
})

test('a corrected clock and a restart end nothing too early', async (t) => {
  const dataFolder = newTemporaryFolder()
  removeAfter(t, dataFolder)
  // The clock of a machine without a battery after every boot.
  let clock = Date.UTC(2001, 0, 1)
  let passed = 0
  const open = () => openServer(t, { dataFolder, now: () => clock, elapsed: () => passed })
  let api = await open()
  await api.call('PUT', '/job/api/jobs/long', { body: { document: {}, timeoutSeconds: 7200 } })
  await api.call('PUT', '/job/api/jobs/patient', { body: { document: {}, expireAfterSeconds: 7200 } })
  await api.call('PUT', '/job/api/jobs/short', { body: { document: {}, expireAfterSeconds: 1 } })
  const device = await newDevice(api, 'd1')
  await api.putJobAndDevices('restart', ['d2'])
  const [{ jobExecutionId: runs }] = (await api.trigger('long', ['d1'])).json
  await device.startNext()
  const [{ jobExecutionId: waits }] = (await api.trigger('patient', ['d2'])).json
  const stateOf = async (id: number) => (await api.call('GET', `/job/api/executions/${id}`)).json.execState
  const states = async () => [await stateOf(runs), await stateOf(waits)]
  for (const correctTo of [Date.UTC(2026, 10, 15), Date.UTC(2001, 0, 1), Date.UTC(2026, 10, 16)]) {
    clock = correctTo
    await api.server.stop()
    api = await open()
    // When this one has expired, whatever was due at the start would have ended as well.
    const [{ jobExecutionId }] = (await api.trigger('short', ['d2'])).json
    passed += 2000
    await waitUntil('it expires', async () => (await stateOf(jobExecutionId)) === 'EXPIRED')
    assert.deepEqual(await states(), ['IN_PROGRESS', 'PENDING'])
  }
  passed += 7200 * 1000
  await waitUntil('both have ended', async () => (await states()).join() === 'TIMED_OUT,EXPIRED')
})

test('a wait has the requested length, however the clock jumps', async (t) => {
  let clock = Date.UTC(2026, 10, 15)
  const api = await openServer(t, { now: () => clock })
  await api.putJobAndDevices('restart', ['d1'])
  const [execution] = (await api.trigger('restart', ['d1'])).json
  const path = `/job/api/executions/${execution.jobExecutionId}`
  let answered = false
  const waiting = api.call('GET', `${path}?wait=60`).finally(() => {
    answered = true
  })
  for (const jump of jumps) {
    clock += jump
    await api.call('GET', path)
    await nextTurn()
    assert.equal(answered, false)
  }
  assert.equal((await api.call('POST', `${path}/cancel`)).status, 200)
  assert.equal((await waiting).json.execState, 'CANCELED')
})

test('all responses have the same future time of a retry after the clock was set', async (t) => {
  let clock = Date.UTC(2026, 10, 15)
  // Nothing but the clock on the wall moves: so all answers can be compared to the millisecond.
  const api = await openServer(t, { now: () => clock, elapsed: () => 0 })
  const retry = { max: 1, backoffSeconds: 600, on: ['FAILED'] }
  await api.call('PUT', '/job/api/jobs/update', { body: { document: {}, retry } })
  const device = await newDevice(api, 'd1')
  const [{ jobExecutionId }] = (await api.trigger('update', ['d1'])).json
  await device.startNext()
  await device.update(jobExecutionId, 'FAILED')
  const path = `/job/api/executions/${jobExecutionId}`
  const read = async () => {
    const [one, list, explained] = await Promise.all([
      api.call('GET', path),
      api.call('GET', '/job/api/executions?deviceId=d1'),
      api.call('GET', `${path}/explain`),
    ])
    return [one.json.notBefore, list.json.items[0].notBefore, explained.json.until].map(Date.parse)
  }
  const delays = (await read()).map((instant) => instant - clock)
  assert.ok(
    delays.every((ms) => ms === delays[0] && ms >= 300_000 && ms <= 600_000),
    `${delays}`,
  )
  for (const jump of jumps) {
    clock += jump
    assert.deepEqual(
      (await read()).map((instant) => instant - clock),
      delays,
      `after a jump by ${jump} ms`,
    )
  }
})
