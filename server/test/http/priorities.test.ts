// Priorities of jobs, runs and schedules, as callers and devices see them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { connectDevice } from '../nodes/connected-device.ts'

const api = await openSharedServer()
await api.putJobAndDevices('usual', [])
await api.call('PUT', '/job/api/jobs/urgent', { body: { priority: 9 } })

const run = async (deviceId: string, more: object = {}) => {
  const body = { jobName: 'usual', targets: { deviceIds: [deviceId] }, ...more }
  const reply = await api.call('POST', '/job/api/runs', { body })
  assert.equal(reply.status, 201, reply.text)
  return reply.json
}
const idOf = async ({ runId }: { runId: number }): Promise<number> =>
  (await api.call('GET', `/job/api/executions?runId=${runId}`)).json.items[0].jobExecutionId

test('jobs, runs, executions and schedules show their priority', async () => {
  assert.equal((await api.call('GET', '/job/api/jobs/usual')).json.priority, 5)
  assert.equal((await api.call('GET', '/job/api/jobs/urgent')).json.priority, 9)
  await newDevice(api, 'p1')
  const [triggered] = (await api.trigger('urgent', ['p1'])).json
  const execution = await api.call('GET', `/job/api/executions/${triggered.jobExecutionId}`)
  assert.equal(execution.json.priority, 9)
  assert.equal((await run('p1', { jobName: 'urgent' })).priority, 9)
  assert.equal((await run('p1', { jobName: 'urgent', priority: 5 })).priority, 5)
  assert.equal((await run('p1', { priority: 0 })).priority, 0)
  const body = { jobName: 'usual', targets: { deviceIds: ['p1'] }, when: { cron: '0 3 * * *' }, priority: 7 }
  const schedule = await api.call('PUT', '/job/api/schedules/nightly', { body })
  assert.deepEqual([schedule.status, schedule.json.priority], [201, 7])
  const { runId } = (await api.call('POST', '/job/api/schedules/nightly/fire')).json
  assert.equal((await api.call('GET', `/job/api/runs/${runId}`)).json.priority, 7)
  const { priority: _, ...unset } = body
  assert.equal((await api.call('PUT', '/job/api/schedules/nightly', { body: unset })).json.priority, null)
})

for (const priority of [-1, 10, 1.5, '7', null]) {
  test(`a priority of ${JSON.stringify(priority)} is refused by name`, async () => {
    const targets = { deviceIds: ['p1'] }
    const bodies: [string, string, object][] = [
      ['PUT', '/job/api/jobs/wrong', { priority }],
      ['POST', '/job/api/runs', { jobName: 'usual', targets, priority }],
      ['PUT', '/job/api/schedules/wrong', { jobName: 'usual', targets, when: { match: true }, priority }],
    ]
    for (const [method, path, body] of bodies) {
      const reply = await api.call(method, path, { body, headers: { accept: 'application/problem+json' } })
      assert.deepEqual(
        [reply.status, reply.json.code, reply.json.field],
        [400, 'J-500', 'priority'],
        reply.text,
      )
    }
  })
}

test('a device is notified when another comes before its next one, and starts the highest priority first', async (t) => {
  const device = await newDevice(api, 'p2')
  const low = await idOf(await run('p2', { priority: 1 }))
  const connected = await connectDevice(t, api.http, device)
  const isNext = (id: number) =>
    connected.notice((suffix, json) => suffix === 'notify-next' && Number(json.execution?.jobId) === id)
  await isNext(low)
  const usual = await idOf(await run('p2'))
  await isNext(usual)
  const high = await idOf(await run('p2', { priority: 8 }))
  await isNext(high)
  const pending = (await device.call('GET', '')).json.queuedJobs.map(({ jobId }: { jobId: string }) => +jobId)
  assert.deepEqual(pending, [high, usual, low])
  const next = async () => Number((await device.startNext()).json.execution.jobId)
  assert.equal(await next(), high)
  // What has started is not interrupted.
  const urgent = await idOf(await run('p2', { jobName: 'urgent' }))
  for (const id of [high, urgent, usual, low]) {
    assert.equal(await next(), id)
    await device.update(id, 'SUCCEEDED')
  }
})

test('a run, or each run of a schedule, replaces what waits of its job on its devices', async () => {
  await newDevice(api, 'r1')
  await newDevice(api, 'r2')
  const [first, elsewhere] = [await idOf(await run('r1')), await idOf(await run('r2'))]
  const urgent = await idOf(await run('r1', { jobName: 'urgent' }))
  const replacing = await run('r1', { replaces: true })
  assert.equal(replacing.replaces, true)
  const read = async (id: number) => (await api.call('GET', `/job/api/executions/${id}`)).json.execState
  const second = await idOf(replacing)
  assert.deepEqual(await Promise.all([first, elsewhere, urgent, second].map(read)), [
    ...['CANCELED', 'PENDING', 'PENDING', 'PENDING'],
  ])
  const history = (await api.call('GET', `/job/api/executions/${first}/history`)).json.items
  assert.equal(history.at(-1).event, 'superseded')
  const { text } = (await api.call('GET', `/job/api/executions/${first}/explain`)).json
  assert.match(text, /^CANCELED at .*: it was replaced by a later run/)
  const body = {
    jobName: 'usual',
    targets: { deviceIds: ['r1'] },
    when: { cron: '0 3 * * *' },
    replaces: true,
  }
  const schedule = await api.call('PUT', '/job/api/schedules/replacing', { body })
  assert.deepEqual([schedule.status, schedule.json.replaces], [201, true])
  const { runId } = (await api.call('POST', '/job/api/schedules/replacing/fire')).json
  assert.equal((await api.call('GET', `/job/api/runs/${runId}`)).json.replaces, true)
  assert.deepEqual([await read(second), await read(await idOf({ runId }))], ['CANCELED', 'PENDING'])
})

test('a run that needs approval replaces when it begins, not before, and nothing if it is denied', async () => {
  await newDevice(api, 'r3')
  const approver = (await api.newKey(['APPROVE', 'READ'])).apiKey
  const decide = async (runId: number, verb: string) => {
    const reply = await api.call('POST', `/job/api/runs/${runId}/${verb}`, { body: {}, key: approver })
    assert.equal(reply.status, 200, reply.text)
  }
  const read = async (id: number) => (await api.call('GET', `/job/api/executions/${id}`)).json.execState
  const waiting = await idOf(await run('r3'))
  const asked = { replaces: true, approval: { required: 2 } }
  const [denied, approved] = [await run('r3', asked), await run('r3', asked)]
  const body = { jobName: 'usual', targets: { deviceIds: ['r3'] }, ...asked, overlap: 'QUEUE' }
  const when = { cron: '0 3 * * *' }
  const put = await api.call('PUT', '/job/api/schedules/asking', { body: { ...body, when } })
  assert.equal(put.status, 201, put.text)
  const fired = (await api.call('POST', '/job/api/schedules/asking/fire')).json
  await decide(denied.runId, 'deny')
  await decide(approved.runId, 'approve')
  assert.equal(await read(waiting), 'PENDING', 'one approval is missing')
  const other = (await api.newKey(['APPROVE', 'READ'])).apiKey
  await api.call('POST', `/job/api/runs/${approved.runId}/approve`, { body: {}, key: other })
  assert.deepEqual([await read(waiting), await read(await idOf(fired))], ['CANCELED', 'PENDING'])
  const history = (await api.call('GET', `/job/api/executions/${waiting}/history`)).json.items
  assert.equal(history.at(-1).event, 'superseded')
  await decide(fired.runId, 'deny')
  assert.equal(await read(await idOf(approved)), 'PENDING')
})
