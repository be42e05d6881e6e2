// Executions: read, wait for the end, find, cancel.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1', 'd2'])
await api.putJobAndDevices('reboot', ['d3'])

type Execution = { jobExecutionId: number; execState: string }
const path = (id: unknown) => `/job/api/executions/${id}`
const cancel = (id: number, body?: unknown) => api.call('POST', `${path(id)}/cancel`, { body })
async function launch(jobName = 'update', deviceIds = ['d1']): Promise<number[]> {
  const reply = await api.trigger(jobName, deviceIds)
  return reply.json.map((execution: Execution) => execution.jobExecutionId)
}
const one = async () => (await launch())[0] as number

test('GET returns 200 with the six fields of the trigger and all further fields', async () => {
  const triggered = await api.trigger('update', ['d1'])
  const [first] = triggered.json
  const reply = await api.call('GET', path(first.jobExecutionId))
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json, {
    ...first,
    runId: Number(triggered.headers.get('location')?.split('/').at(-1)),
    attempt: 1,
    versionNumber: 1,
    startedAt: null,
    finishedAt: null,
    notifiedAt: null,
    deliveredAt: null,
    notBefore: null,
    statusDetails: {},
    result: null,
    outputBytes: 0,
    outputCut: false,
    priority: 5,
  })
})

test('GET answers J-302 for an execution that is not there', async () => {
  for (const id of [999_999_999, Number.MAX_SAFE_INTEGER]) {
    assertRefused(await api.call('GET', path(id)), 'J-302')
  }
})

test('GET, and cancel, answer J-500 to an id that is none', async () => {
  const id = await one()
  const spellings = [0, -1, 'x', '1.5', `${id}.0`, `0${id}`, `+${id}`, `%20${id}`, `${id}e0`, '0x1', 2 ** 53]
  for (const spelled of spellings) {
    assertRefused(await api.call('GET', path(spelled)), 'J-500')
    assertRefused(await api.call('POST', `${path(spelled)}/cancel`), 'J-500')
  }
})

test('cancel ends a pending execution at once: CANCELED, with its time and the next version', async () => {
  const id = await one()
  const reply = await cancel(id)
  assert.equal(reply.status, 200)
  assert.equal(reply.json.execState, 'CANCELED')
  assert.equal(reply.json.versionNumber, 2)
  assert.match(reply.json.finishedAt, /^\d{4}-.*Z$/)
  assert.deepEqual((await api.call('GET', path(id))).json, reply.json)
})

test('cancel of an ended execution returns J-303, also with force, and changes nothing', async () => {
  const id = await one()
  const ended = await cancel(id, { force: true })
  assert.equal(ended.json.execState, 'CANCELED')
  assertRefused(await cancel(id), 'J-303')
  assertRefused(await cancel(id, { force: true }), 'J-303')
  assert.deepEqual((await api.call('GET', path(id))).json, ended.json)
})

test('ten cancels at once: one is answered 200, the others J-303', async () => {
  const id = await one()
  const replies = await Promise.all(Array.from({ length: 10 }, () => cancel(id)))
  const statuses = replies.map((reply) => reply.status).sort()
  assert.deepEqual(statuses, [200, ...Array(9).fill(409)])
})

test('cancel answers J-302 for an execution that is not there', async () => {
  assertRefused(await cancel(999_999_999), 'J-302')
})

for (const body of [{ force: 'yes' }, { force: null }, { force: 1 }, { Force: true }, [], null, 'force']) {
  test(`cancel answers J-500 to ${JSON.stringify(body)} and cancels nothing`, async () => {
    const id = await one()
    assertRefused(await cancel(id, body), 'J-500')
    assert.equal((await api.call('GET', path(id))).json.execState, 'PENDING')
  })
}

test('?wait= answers at once when the end is reached', { timeout: 50_000 }, async () => {
  const id = await one()
  await cancel(id)
  assert.equal((await api.call('GET', `${path(id)}?wait=60`)).json.execState, 'CANCELED')
})

test('?wait= holds until the execution is canceled', { timeout: 50_000 }, async () => {
  const id = await one()
  let answered = false
  const waiting = api.call('GET', `${path(id)}?wait=60`).finally(() => {
    answered = true
  })
  const now = await api.call('GET', `${path(id)}?wait=0`)
  assert.equal(now.json.execState, 'PENDING')
  assert.equal(answered, false)
  await cancel(id)
  assert.equal((await waiting).json.execState, 'CANCELED')
})

test('?wait= returns the current state when the time is over', async () => {
  const id = await one()
  const begun = performance.now()
  const reply = await api.call('GET', `${path(id)}?wait=1`)
  assert.equal(reply.json.execState, 'PENDING')
  assert.ok(performance.now() - begun > 900)
})

test('?wait= answers J-302 at once for an execution that is not there', { timeout: 50_000 }, async () => {
  assertRefused(await api.call('GET', `${path(999_999_999)}?wait=60`), 'J-302')
})

for (const query of [
  'wait=61',
  'wait=-1',
  'wait=1.5',
  'wait=x',
  'wait=',
  'wait=1e1',
  'wait=1&wait=2',
  'w=1',
]) {
  test(`answers J-500 to ?${query}`, async () => {
    assertRefused(await api.call('GET', `${path(await one())}?${query}`), 'J-500')
  })
}

test('many reads over one connection leave no listeners behind', async () => {
  const id = await one()
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  for (let i = 0; i < 15; i++) await api.call('GET', path(id))
  await new Promise(setImmediate)
  process.off('warning', note)
  assert.deepEqual(warnings, [])
})
