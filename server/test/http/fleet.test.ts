import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { buildClock } from '@jobcast/testkit/shared-server'

const hour = 60 * 60_000

test('an empty fleet has nothing, and a day of nothing behind it', async (t) => {
  const api = await openServer(t)
  const { json } = await api.call('GET', '/job/api/fleet')
  const { history, ...now } = json
  assert.deepEqual(now, {
    devices: { total: 0, online: 0 },
    waiting: 0,
    running: 0,
    lastHour: { succeeded: 0, failed: 0 },
    oldestWaiting: null,
  })
  assert.equal(history.stepSeconds, 1800)
  for (const name of ['waiting', 'running', 'succeeded', 'failed']) {
    assert.deepEqual(history[name], Array(48).fill(0), name)
  }
})

test('what waited, ran and ended shows in its half hour, and leaves after a day', async (t) => {
  const clock = buildClock()
  const api = await openServer(t, { now: clock.now })
  await api.call('PUT', '/job/api/jobs/restart', { body: {} })
  const devices = [await newDevice(api, 'a'), await newDevice(api, 'b')]
  await newDevice(api, 'c')
  const fleet = async () => (await api.call('GET', '/job/api/fleet')).json
  await fleet() // what happens after the first look counts as well

  const [a, b, c] = (await api.trigger('restart', ['a', 'b', 'c'])).json
  clock.forward(hour)
  for (const device of devices) await device.startNext()
  clock.forward(hour)
  await devices[0]?.update(a.jobExecutionId, 'SUCCEEDED')
  await devices[1]?.update(b.jobExecutionId, 'FAILED')
  const now = await fleet()
  assert.equal(now.devices.total, 3)
  assert.deepEqual([now.waiting, now.running], [1, 0])
  assert.deepEqual(now.lastHour, { succeeded: 1, failed: 1 })
  assert.equal(now.oldestWaiting.jobExecutionId, c.jobExecutionId)
  assert.equal(now.oldestWaiting.deviceId, 'c')
  // Points end on the half hour only when the clock does; these stand an hour, two points, apart.
  assert.deepEqual(now.history.waiting.slice(-7), [0, 0, 3, 3, 1, 1, 1])
  assert.deepEqual(now.history.running.slice(-7), [0, 0, 0, 0, 2, 2, 0])
  assert.deepEqual(now.history.failed.slice(-7), [0, 0, 0, 0, 0, 0, 1])
  assert.deepEqual(now.history.succeeded.slice(-7), [0, 0, 0, 0, 0, 0, 1])

  clock.forward(hour)
  assert.deepEqual((await fleet()).lastHour, { succeeded: 0, failed: 0 })
  clock.forward(24 * hour)
  const later = await fleet()
  assert.deepEqual(later.history.failed, Array(48).fill(0))
  assert.deepEqual(later.history.waiting, Array(48).fill(1))
})

test('every device comes with its last execution, page by page', async (t) => {
  const api = await openServer(t)
  await api.putJobAndDevices('restart', ['a', 'b', 'c'])
  const [, second] = (await api.trigger('restart', ['a', 'b'])).json
  await api.call('POST', `/job/api/executions/${second.jobExecutionId}/cancel`)
  const first = (await api.call('GET', '/job/api/fleet/devices?limit=2')).json
  const rest = (await api.call('GET', `/job/api/fleet/devices?cursor=${first.nextCursor}`)).json
  assert.deepEqual(
    [...first.items, ...rest.items].map(({ deviceId, online, lastExecution }) => [
      deviceId,
      online,
      lastExecution?.execState,
    ]),
    [
      ['a', false, 'PENDING'],
      ['b', false, 'CANCELED'],
      ['c', false, undefined],
    ],
  )
  assert.equal(rest.nextCursor, null)
})

test('runs can be asked for by whether they have ended', async (t) => {
  const api = await openServer(t)
  await api.putJobAndDevices('restart', ['a'])
  const [{ jobExecutionId }] = (await api.trigger('restart', ['a'])).json
  await api.trigger('restart', ['a'])
  await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`)
  const ids = async (query: string) =>
    (await api.call('GET', `/job/api/runs?${query}`)).json.items.map((run: { runId: number }) => run.runId)
  assert.deepEqual(await ids('finished=false'), [2])
  assert.deepEqual(await ids('finished=true&jobName=restart'), [1])
})
