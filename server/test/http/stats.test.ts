// Charts: the timeline of a run, counts over a range, devices by tag; answers that are compressed; entity tags.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
await api.call('PUT', '/job/api/jobs/restart', {
  body: { retry: { max: 2 } },
})
await api.call('PUT', '/job/api/jobs/update', { body: {} })
const devices = [await newDevice(api, 'a'), await newDevice(api, 'b')]
await newDevice(api, 'c')
const get = async (path: string) => (await api.call('GET', `/job/api/${path}`)).json
const launchedAt = clock.now()
const run = await api.trigger('update', ['a', 'b', 'c'])
const runId = Number(run.headers.get('location')?.split('/').at(-1))
const [a, b] = run.json
clock.forward(10_000)
for (const device of devices) await device.startNext()
clock.forward(10_000)
await devices[0]?.update(a.jobExecutionId, 'SUCCEEDED')
clock.forward(20_000)
await devices[1]?.update(b.jobExecutionId, 'FAILED', { statusDetails: { reason: 'disk full' } })

test('the timeline of a run has the counts at the end of each bucket', async () => {
  const timeline = await get(`runs/${runId}/timeline?buckets=4`)
  assert.equal(timeline.from, new Date(launchedAt).toISOString())
  assert.deepEqual([timeline.total, timeline.sampled], [3, 3])
  assert.ok(timeline.stepMs >= 10_000)
  assert.deepEqual(timeline.counts.PENDING.at(0), 3)
  for (const [state, last] of Object.entries({ PENDING: 1, IN_PROGRESS: 0, SUCCEEDED: 1, FAILED: 1 })) {
    assert.equal(timeline.counts[state].at(-1), last, state)
    assert.ok(timeline.counts[state].length <= 4)
  }
  assert.deepEqual(timeline.counts.IN_PROGRESS.slice(0, 3), [0, 2, 1])
  assert.ok(!('TIMED_OUT' in timeline.counts))
})

test('the timeline refuses an unknown run and too many buckets', async () => {
  assertRefused(await api.call('GET', '/job/api/runs/999999/timeline'), 'J-304')
  assertRefused(await api.call('GET', `/job/api/runs/${runId}/timeline?buckets=501`), 'J-500')
})

test('stats have counts, success rate and durations, by time and by job', async () => {
  const stats = await get('stats?buckets=24')
  assert.equal(stats.buckets.length, 24)
  assert.deepEqual([stats.overall.total, stats.overall.successRate], [3, 0.5])
  assert.deepEqual(stats.overall.durationMs, { p50: 10_000, p95: 10_000 })
  assert.equal(stats.completeFrom, stats.from)
  assert.equal(stats.buckets.at(-1).counts.FAILED, 1)
  assert.equal(stats.buckets.at(0).successRate, null)
  assert.deepEqual(
    stats.jobs.map(({ jobName, total }: { jobName: string; total: number }) => [jobName, total]),
    [['update', 3]],
  )
  const before = encodeURIComponent(new Date(launchedAt - 1).toISOString())
  assert.equal((await get(`stats?launchedBefore=${before}`)).overall.total, 0)
  assert.equal((await get('stats?jobName=restart')).overall.total, 0)
})

test('stats refuse a range that ends before it starts, by the name of the field', async () => {
  const query = 'launchedAfter=2026-01-02T00:00:00Z&launchedBefore=2026-01-01T00:00:00Z'
  const reply = await api.call('GET', `/job/api/stats?${query}`, {
    headers: { accept: 'application/problem+json' },
  })
  assert.equal(reply.json.field, 'launchedBefore')
})

test('a device that works is known as working, with one more in its queue too, and counted by tag', async () => {
  await api.call('PUT', '/job/api/devices/a', { body: { tags: ['berlin', 'kiosk'] } })
  await api.call('PUT', '/job/api/devices/b', { body: { tags: ['kiosk'] } })
  const [first] = (await api.trigger('update', ['a'])).json
  await devices[0]?.startNext()
  const [second] = (await api.trigger('update', ['a'])).json
  const { items } = await get('fleet/devices')
  assert.deepEqual(items[0].lastExecution, { jobExecutionId: second.jobExecutionId, execState: 'PENDING' })
  assert.deepEqual(items[0].running, { jobExecutionId: first.jobExecutionId, execState: 'IN_PROGRESS' })
  assert.equal(items[1].running, null)
  const groups = await get('fleet/groups')
  assert.deepEqual(groups.all.states, { IN_PROGRESS: 1, FAILED: 1, PENDING: 1 })
  assert.deepEqual(
    groups.groups.map(({ tag, devices, states }: Record<string, unknown>) => [tag, devices, states]),
    [
      ['kiosk', 2, { IN_PROGRESS: 1, FAILED: 1 }],
      ['berlin', 1, { IN_PROGRESS: 1 }],
      [null, 1, { PENDING: 1 }],
    ],
  )
  assert.equal((await get('fleet/groups?limit=1')).otherGroups, 2)

  await api.call('PUT', '/job/api/devices/a', { body: { attributes: { site: 'oslo', ring: 1 } } })
  await api.call('PUT', '/job/api/groups/rest', { body: { where: 'ring=1' } })
  await api.call('PUT', '/job/api/groups/north', { body: { where: 'site=oslo or group=rest' } })
  // One that refers to a group that was deleted has no devices.
  await api.call('PUT', '/job/api/groups/gone', { body: { where: 'all' } })
  await api.call('PUT', '/job/api/groups/broken', { body: { where: 'group=gone' } })
  await api.call('DELETE', '/job/api/groups/gone?force=true')
  const by = async (name: string) =>
    (await get(`fleet/groups?by=${name}`)).groups.map(({ value, devices }: Record<string, unknown>) => [
      value,
      devices,
    ])
  assert.deepEqual(await by('site'), [
    [null, 2],
    ['oslo', 1],
  ])
  assert.deepEqual(await by('ring'), [
    [null, 2],
    ['1', 1],
  ])
  assert.deepEqual(await by('group'), [
    [null, 2],
    ['north', 1],
    ['rest', 1],
  ])
  assert.deepEqual(await by('constructor'), [[null, 3]])
  const wrong = await api.call('GET', '/job/api/fleet/groups?by=a%20b')
  assert.equal(wrong.json.code, 'J-500')
})

test('a run has the name of its key, and the history of an execution the reason of each attempt', async () => {
  const { createdBy, createdByName, finishedAt } = await get(`runs/${runId}`)
  assert.match(createdBy, /^key:/)
  assert.equal(createdByName, 'admin')
  assert.equal(finishedAt, null)
  const [retried] = (await api.trigger('restart', ['b'])).json
  await devices[1]?.startNext()
  const reported = { statusDetails: { exitCode: '3', signal: 'none' } }
  await devices[1]?.update(retried.jobExecutionId, 'FAILED', reported)
  const { items } = await get(`executions/${retried.jobExecutionId}/history`)
  assert.equal(items[0].actorName, 'admin')
  const { items: failed } = await get(`executions/${b.jobExecutionId}/history`)
  assert.equal(failed.at(-1).reason, 'disk full')
  assert.deepEqual(
    items.flatMap(({ reason, attempt }: Record<string, unknown>) => (reason ? [[attempt, reason]] : [])),
    [[1, 'exitCode 3, signal none']],
  )
})

test('large answers are compressed for those who accept it, and no others', async () => {
  const ask = (path: string, coding: string) =>
    fetch(`${api.http}${path}`, {
      headers: { 'x-api-key': api.adminKey, 'accept-encoding': coding },
    })
  const zipped = await ask('/job/api/stats', 'br, gzip')
  assert.equal(zipped.headers.get('content-encoding'), 'gzip')
  assert.equal(zipped.headers.get('vary'), 'accept-encoding')
  assert.equal(JSON.parse(await zipped.text()).buckets.length, 48)
  for (const coding of ['identity', 'gzip;q=0', 'br']) {
    const plain = await ask('/job/api/stats', coding)
    assert.equal(plain.headers.get('content-encoding'), null, coding)
    assert.equal(JSON.parse(await plain.text()).buckets.length, 48)
  }
  const small = await ask(`/job/api/runs/${runId}`, 'gzip')
  assert.equal(small.headers.get('content-encoding'), null)
  const secret = await ask('/job/api/keys', 'gzip')
  assert.deepEqual([secret.headers.get('content-encoding'), secret.headers.get('vary')], [null, null])
})

for (const [path, body] of Object.entries({
  'jobs/tagged': { description: 'one' },
  'devices/tagged': { deviceName: 'one' },
  'webhooks/tagged': { url: 'https://hook.invalid/one' },
})) {
  test(`${path} has an ETag, and If-Match lets only one of two changes in`, async () => {
    const call = (method: string, more: object, ifMatch?: string) =>
      api.call(method, `/job/api/${path}`, { ...more, ...(ifMatch && { headers: { 'if-match': ifMatch } }) })
    assertRefused(await call('PUT', { body }, '*'), 'J-312')
    const first = (await call('PUT', { body })).headers.get('etag') ?? ''
    // That of a job is its version.
    assert.match(first, path === 'jobs/tagged' ? /^"1"$/ : /^"[\w-]{22}"$/)
    assert.equal((await call('GET', {})).headers.get('etag'), first)
    const [name, value] = Object.entries(body)[0] as [string, string]
    const changed = { body: { ...body, [name]: `${value}-2` } }
    const second = await call('PUT', changed, `"other", ${first}`)
    assert.equal(second.status, 200)
    assert.notEqual(second.headers.get('etag'), first)
    assertRefused(await call('PUT', { body }, first), 'J-312')
    assertRefused(await call('PUT', { body }, `W/${second.headers.get('etag')}`), 'J-312')
    assertRefused(await call('DELETE', {}, first), 'J-312')
    assert.equal((await call('DELETE', {}, second.headers.get('etag') ?? '')).status, 204)
  })
}

test('what was canceled before it began does not lower the success rate', async () => {
  await api.call('PUT', '/job/api/jobs/stopped', { body: {} })
  const stopped = await api.trigger('stopped', ['c'])
  assert.equal((await api.call('POST', `${stopped.headers.get('location')}/cancel`)).status, 200)
  clock.forward(1000)
  const { overall } = await get('stats?jobName=stopped')
  assert.deepEqual([overall.counts.CANCELED, overall.successRate], [1, null])
})
