// Runs: counts per state, finished or not, and waiting for that.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execStates } from '@jobcast/contract'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1', 'd2', 'd3'])
await api.putJobAndDevices('reboot', [])

async function launch(jobName: string, deviceIds: string[]) {
  const reply = await api.trigger(jobName, deviceIds)
  const path = reply.headers.get('location') as string
  const ids: number[] = reply.json.map((execution: { jobExecutionId: number }) => execution.jobExecutionId)
  return { path, ids, launchedAt: reply.json[0].launchedAt, runId: Number(path.split('/').at(-1)) }
}
const cancel = (id: number | undefined) => api.call('POST', `/job/api/executions/${id}/cancel`)
const counts = (some: Record<string, number>) => ({
  ...Object.fromEntries(execStates.map((state) => [state, 0])),
  ...some,
})

test('GET answers 200 with total, a count for each state, and whether it is finished', async () => {
  const { path, runId, launchedAt } = await launch('update', ['d1', 'd2', 'd3', 'd1'])
  const reply = await api.call('GET', path)
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json, {
    runId,
    jobName: 'update',
    launchedAt,
    total: 3,
    counts: counts({ PENDING: 3 }),
    finished: false,
    finishedAt: null,
    retryOf: null,
    createdBy: reply.json.createdBy,
    createdByName: 'admin',
    where: null,
    matched: null,
    note: null,
    rollout: null,
    version: 1,
    parameters: {},
    priority: 5,
    replaces: false,
    approvals: [],
    rollbackOf: null,
    scheduleName: null,
    scheduledFor: null,
    window: null,
  })
})

test('the counts follow each execution, and the run is finished with the last', async () => {
  const { path, ids } = await launch('update', ['d1', 'd2'])
  await cancel(ids[0])
  const half = (await api.call('GET', path)).json
  assert.deepEqual([half.counts, half.finished], [counts({ PENDING: 1, CANCELED: 1 }), false])
  await cancel(ids[1])
  const whole = (await api.call('GET', path)).json
  assert.deepEqual([whole.counts, whole.finished], [counts({ CANCELED: 2 }), true])
})

test('?wait= holds over the first cancel and ends with the last', { timeout: 50_000 }, async () => {
  const { path, ids } = await launch('update', ['d1', 'd2', 'd3'])
  let answered = false
  const waiting = api.call('GET', `${path}?wait=60`).finally(() => {
    answered = true
  })
  await cancel(ids[0])
  await cancel(ids[1])
  await api.call('GET', path)
  assert.equal(answered, false)
  await cancel(ids[2])
  assert.deepEqual((await waiting).json.counts, counts({ CANCELED: 3 }))
})

test('?wait= ends for ten waiters at once', { timeout: 50_000 }, async () => {
  const { path, ids } = await launch('update', ['d1'])
  const waiting = Array.from({ length: 10 }, () => api.call('GET', `${path}?wait=60`))
  await cancel(ids[0])
  const replies = await Promise.all(waiting)
  assert.ok(replies.every((reply) => reply.json.finished))
})

test('?wait= answers at once for a finished run', { timeout: 50_000 }, async () => {
  const { path, ids } = await launch('update', ['d1'])
  await cancel(ids[0])
  assert.equal((await api.call('GET', `${path}?wait=60`)).json.finished, true)
})

test('?wait= answers with what is when the time is over', async () => {
  const { path } = await launch('update', ['d1'])
  const begun = performance.now()
  assert.equal((await api.call('GET', `${path}?wait=1`)).json.finished, false)
  assert.ok(performance.now() - begun > 900)
})

for (const query of ['wait=61', 'wait=-1', 'wait=0.5', 'wait=', 'wait=ever', 'limit=1']) {
  test(`answers J-500 to ?${query}`, async () => {
    const { path } = await launch('update', ['d1'])
    assertRefused(await api.call('GET', `${path}?${query}`), 'J-500')
  })
}

test('GET answers J-304 for a run that is not there, and J-500 to an id that is none', async () => {
  assertRefused(await api.call('GET', '/job/api/runs/999999999'), 'J-304')
  for (const id of ['0', '-1', 'x', '1.0', '01', '9007199254740992']) {
    assertRefused(await api.call('GET', `/job/api/runs/${id}`), 'J-500')
  }
})

test('the list has the newest first, and ?jobName= only those of the job', async () => {
  const first = await launch('reboot', ['d1'])
  const between = await launch('update', ['d1'])
  const second = await launch('reboot', ['d2'])
  const listed = async (query: string) =>
    (await api.call('GET', `/job/api/runs?limit=3${query}`)).json.items.map((r: { runId: number }) => r.runId)
  assert.deepEqual(await listed(''), [second.runId, between.runId, first.runId])
  assert.deepEqual(await listed('&jobName=reboot'), [second.runId, first.runId])
  assert.deepEqual(await listed('&jobName=nowhere'), [])
})

test('the document of a run is what the job said when it was triggered, not what it says now', async () => {
  const path = '/job/api/jobs/patch'
  await api.call('PUT', path, { body: { document: { handler: 'patch', args: ['1.0'] } } })
  const { path: run } = await launch('patch', ['d1'])
  await api.call('PUT', path, { body: { document: { handler: 'patch', args: ['2.0'] } } })
  await api.call('DELETE', path)
  const reply = await api.call('GET', `${run}/document`)
  assert.deepEqual([reply.status, reply.json], [200, { handler: 'patch', args: ['1.0'] }])
  assertRefused(await api.call('GET', '/job/api/runs/987654321/document'), 'J-304')
})
