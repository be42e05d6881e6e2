// A wrong clock does no harm.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'

const hour = 60 * 60 * 1000
const jumps = [1000, -1000, hour, -hour, 24 * hour, -24 * hour, -24 * hour, 48 * hour]

test('ids grow, lists keep their order and keys stay good while the clock jumps', async (t) => {
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

test('a retry with an Idempotency-Key makes nothing after the clock went back, or on by less than a day', async (t) => {
  const begun = Date.UTC(2026, 10, 15)
  let clock = begun
  const api = await openServer(t, { now: () => clock })
  await api.putJobAndDevices('restart', ['d1'])
  const headers = { 'idempotency-key': 'k' }
  const first = await api.trigger('restart', ['d1'], { headers })
  for (const jump of [-1000, 1000, -hour, hour, -24 * hour, 24 * hour - 1]) {
    clock = begun + jump
    assert.equal((await api.trigger('restart', ['d1'], { headers })).text, first.text)
  }
  assert.equal((await api.call('GET', '/job/api/runs')).json.items.length, 1)
})

test('a wait is as long as it was asked for, however the clock jumps', async (t) => {
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

test('all answers name the same instant of a retry after the clock was set, one that is still to come', async (t) => {
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
