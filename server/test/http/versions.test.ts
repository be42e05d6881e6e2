// Versions of jobs: each change creates one, runs have a version, and devices can be rolled back to an earlier one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const [good, bad] = [await newDevice(api, 'good'), await newDevice(api, 'bad')]
await api.putJobAndDevices('other', ['waits'])

const put = (jobName: string, body: unknown, ifMatch?: string) =>
  api.call('PUT', `/job/api/jobs/${jobName}`, { body, ...(ifMatch && { headers: { 'if-match': ifMatch } }) })
const get = async (path: string) => (await api.call('GET', `/job/api/${path}`)).json
const post = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', `/job/api/${path}`, { body, headers })

test('each change makes the next version, an equal put none; the ETag is the version', async () => {
  const first = await put('counted', { description: 'one' })
  assert.deepEqual([first.status, first.json.version, first.headers.get('etag')], [201, 1, '"1"'])
  assert.deepEqual((await put('counted', { description: 'one' })).json, first.json)
  const second = await put('counted', { description: 'two', document: { n: 2 } }, '"1"')
  assert.deepEqual([second.status, second.json.version, second.headers.get('etag')], [200, 2, '"2"'])
  assertRefused(await put('counted', { description: 'three' }, '"1"'), 'J-312')
  const { items, nextCursor } = await get('jobs/counted/versions')
  assert.deepEqual(
    items.map((each: Record<string, unknown>) => [each.version, each.description, each.isCurrent]),
    [
      [2, 'two', true],
      [1, 'one', false],
    ],
  )
  assert.match(items[0].createdBy, /^key:/)
  assert.equal(nextCursor, null)
  const page = await get('jobs/counted/versions?limit=1')
  assert.deepEqual((await get(`jobs/counted/versions?limit=1&cursor=${page.nextCursor}`)).items, [items[1]])
  assert.deepEqual(await get('jobs/counted/versions/1'), items[1])
})

test('a version is restored as a new one; the same content again changes nothing', async () => {
  await put('restored', { document: { n: 1 } })
  await put('restored', { document: { n: 2 } })
  const reply = await post('jobs/restored/versions/1/restore')
  assert.deepEqual([reply.status, reply.json.version, reply.json.document], [200, 3, { n: 1 }])
  assert.equal(reply.headers.get('etag'), '"3"')
  assert.equal((await post('jobs/restored/versions/1/restore')).json.version, 3)
  assertRefused(await post('jobs/restored/versions/2/restore', undefined, { 'if-match': '"2"' }), 'J-312')
  assert.equal((await get('jobs/restored')).version, 3)
})

test('a job that is created again continues counting', async () => {
  await put('reborn', { document: { n: 1 } })
  const del = (ifMatch: string) =>
    api.call('DELETE', '/job/api/jobs/reborn', { headers: { 'if-match': ifMatch } })
  assertRefused(await del('"2"'), 'J-312')
  assert.equal((await del('"1"')).status, 204)
  for (const path of ['versions', 'versions/1']) {
    assertRefused(await api.call('GET', `/job/api/jobs/reborn/${path}`), 'J-301')
  }
  const again = await put('reborn', { document: { n: 1 } })
  assert.deepEqual([again.status, again.json.version], [201, 2])
})

test('unknown versions are J-313, those of unknown jobs J-301', async () => {
  for (const path of ['versions/9', 'versions/2147483647']) {
    assertRefused(await api.call('GET', `/job/api/jobs/other/${path}`), 'J-313')
  }
  assertRefused(await post('jobs/other/versions/9/restore'), 'J-313')
  assertRefused(await post('jobs/none/versions/1/restore'), 'J-301')
  assertRefused(await api.call('GET', '/job/api/jobs/none/versions'), 'J-301')
  for (const version of ['0', 'x', '2147483648']) {
    assertRefused(await api.call('GET', `/job/api/jobs/other/versions/${version}`), 'J-500')
  }
  const targets = { deviceIds: ['waits'] }
  assertRefused(await post('runs', { jobName: 'other', targets, version: 9 }), 'J-313')
  assertRefused(await api.call('GET', '/job/api/runs?version=1'), 'J-500')
})

test('a run names its version, and may ask for an earlier one', async () => {
  await put('pinned', { document: { n: 1 } })
  await put('pinned', { document: { n: 2 } })
  const targets = { deviceIds: ['waits'] }
  const newest = (await post('runs', { jobName: 'pinned', targets })).json
  const first = (await post('runs', { jobName: 'pinned', targets, version: 1 })).json
  assert.deepEqual([newest.version, first.version], [2, 1])
  assert.deepEqual(await get(`runs/${first.runId}/document`), { n: 1 })
  const plan = (await post('runs?dryRun=true', { jobName: 'pinned', targets, version: 1 })).json
  assert.deepEqual(plan.document, { n: 1 })
  const { items } = await get('runs?jobName=pinned&version=1')
  assert.deepEqual(
    items.map(({ runId }: { runId: number }) => runId),
    [first.runId],
  )
})

/** One succeeded, one failed, one waits; of the version that is current. */
async function launch(jobName: string): Promise<number> {
  const reply = await api.trigger(jobName, ['good', 'bad', 'waits'])
  const ids: number[] = reply.json.map((each: { jobExecutionId: number }) => each.jobExecutionId)
  await good.update(ids[0] as number, 'SUCCEEDED')
  await bad.update(ids[1] as number, 'FAILED')
  return Number(reply.headers.get('location')?.split('/').at(-1))
}

test('a retry takes the same version, or the newest if it is asked to', async () => {
  await put('retried', { document: { n: 1 } })
  const runId = await launch('retried')
  await put('retried', { document: { n: 2 } })
  assert.equal((await post(`runs/${runId}/retry`)).json.version, 1)
  assert.equal((await post(`runs/${runId}/retry`, { version: 'SAME' })).json.version, 1)
  assert.equal((await post(`runs/${runId}/retry`, { version: 'NEWEST' })).json.version, 2)
  assertRefused(await post(`runs/${runId}/retry`, { version: 1 }), 'J-500')
})

test('a rollback is a run of the version before, on the devices that may have got it', async () => {
  await put('rolled-back', { document: { n: 1 } })
  await put('rolled-back', { document: { n: 2 } })
  await put('rolled-back', { document: { n: 3 } })
  const runId = await launch('rolled-back')
  const key = { 'idempotency-key': 'back-1' }
  const reply = await post(`runs/${runId}/rollback`, undefined, key)
  assert.equal(reply.status, 201)
  const { version, rollbackOf, retryOf, total } = reply.json
  assert.deepEqual([version, rollbackOf, retryOf, total], [2, runId, null, 3])
  const { items } = await get(`executions?runId=${reply.json.runId}`)
  assert.deepEqual(items.map((each: { deviceId: string }) => each.deviceId).sort(), ['bad', 'good', 'waits'])
  assert.deepEqual((await post(`runs/${runId}/rollback`, {}, key)).json, reply.json)
  assertRefused(await post(`runs/${runId}/rollback`, { toVersion: 1 }, key), 'J-501')
  assert.equal((await post(`runs/${runId}/rollback`, { toVersion: 1 })).json.code, 'J-317')
  const again = { again: true }
  assert.equal((await post(`runs/${runId}/rollback`, { toVersion: 1, ...again })).json.version, 1)
  assertRefused(await post(`runs/${runId}/rollback`, { toVersion: 9, ...again }), 'J-313')
  assertRefused(await post('runs/999999/rollback'), 'J-304')
})

test('there is nothing before the first version', async () => {
  await put('first-only', {})
  const runId = await launch('first-only')
  const problem = { accept: 'application/problem+json' }
  const reply = await post(`runs/${runId}/rollback`, {}, problem)
  assert.equal(reply.json.code, 'J-313')
  assert.match(reply.json.detail, /has no previous version: set toVersion/)
})

test('an earlier version is no way around the approval, the window and the rollout of the current one', async () => {
  const window = { cron: '0 0 29 2 *', durationMinutes: 1 }
  for (const name of ['rare', 'rarer']) await api.call('PUT', `/job/api/windows/${name}`, { body: window })
  await put('guarded', { document: { n: 1 } })
  await put('guarded', { document: { n: 2 }, window: 'rarer', approval: true })
  await put('guarded', { document: { n: 3 } })
  const runId = await launch('guarded')
  await put('guarded', {
    ...{ document: { n: 4 }, window: 'rare', approval: true },
    rollout: { waves: [{ size: 1 }, { size: '100%' }] },
  })
  const { apiKey: key } = await api.newKey(['TRIGGER', 'READ'])
  const ask = (path: string, body: unknown = {}) => api.call('POST', `/job/api/${path}`, { key, body })
  const targets = { deviceIds: ['good', 'bad'] }
  const run = { jobName: 'guarded', targets, version: 1 }
  const startAt = new Date(Date.now() + 3_600_000).toISOString()
  for (const [reply, version, state, waves] of [
    [await ask('runs', run), 1, 'AWAITING_APPROVAL', 2],
    [await ask('runs', { ...run, version: 2 }), 2, 'AWAITING_APPROVAL', 2],
    [await ask('runs', { ...run, targets: { where: 'deviceId in (good, bad)' } }), 1, 'AWAITING_APPROVAL', 2],
    [await ask('runs', { ...run, rollout: {} }), 1, 'AWAITING_APPROVAL', 1],
    [await ask('runs', { ...run, approval: false }), 1, 'AWAITING_APPROVAL', 2],
    [await ask('runs', { ...run, startAt }), 1, 'SCHEDULED', 2],
    [await ask(`runs/${runId}/retry`), 3, 'AWAITING_APPROVAL', 1],
    [await post(`runs/${runId}/rollback`, { toVersion: 1 }), 1, 'AWAITING_APPROVAL', 1],
  ] as const) {
    assert.equal(reply.status, 201, reply.text)
    const { rollout, ...made } = await get(`runs/${reply.json.runId}`)
    assert.deepEqual(
      [made.version, made.window, rollout.state, rollout.waves.length],
      [version, 'rare', state, waves],
    )
    await post(`runs/${made.runId}/cancel`, {})
  }
  assert.equal((await ask('runs?dryRun=true', run)).json.waves.length, 2)
  for (const path of ['runs', 'runs?dryRun=true']) {
    assertRefused(await ask(path, { ...run, window: 'rarer' }), 'J-804', 'MANAGE')
  }
  const when = { cron: '0 0 29 2 *' }
  const schedule = { jobName: 'guarded', targets, version: 1, when }
  await api.call('PUT', '/job/api/schedules/around', { body: schedule })
  const fired = await ask('schedules/around/fire')
  assert.ok(fired.status < 300, fired.text)
  const [scheduled] = (await get('runs?scheduleName=around')).items
  assert.deepEqual(
    [scheduled.version, scheduled.window, scheduled.rollout.state],
    [1, 'rare', 'AWAITING_APPROVAL'],
  )
  await post(`runs/${scheduled.runId}/cancel`, {})
  await api.call('DELETE', '/job/api/schedules/around')
})

test('a window that a run was given does not outlast a window that its job is given later', async () => {
  const window = { cron: '0 0 29 2 *', durationMinutes: 1 }
  const always = { cron: '* * * * *', durationMinutes: 1 }
  await api.call('PUT', '/job/api/windows/rare', { body: window })
  await api.call('PUT', '/job/api/windows/always', { body: always })
  await put('free', { document: { n: 1 } })
  const { apiKey: key } = await api.newKey(['TRIGGER'])
  const body = { jobName: 'free', targets: { deviceIds: ['bad'] }, window: 'always' }
  const made = await api.call('POST', '/job/api/runs', { key, body })
  assert.deepEqual([made.status, made.json.window], [201, 'always'], 'any window, if the job has none')
  const [{ jobExecutionId }] = (await get(`executions?runId=${made.json.runId}`)).items
  assert.equal((await bad.update(jobExecutionId, 'FAILED')).status, 200)
  const retry = () => api.call('POST', `/job/api/runs/${made.json.runId}/retry`, { key, body: {} })
  const again = await retry()
  assert.equal(again.json.window, 'always')
  await put('free', { document: { n: 1 }, window: 'rare' })
  const held = await retry()
  assert.equal(held.json.window, 'rare')
  assertRefused(await api.call('POST', '/job/api/runs', { key, body }), 'J-804', 'MANAGE')
  assert.equal((await post('runs', { ...body, window: 'always' })).json.window, 'always')
  for (const { json } of [again, held]) await post(`runs/${json.runId}/cancel`, {})
})
