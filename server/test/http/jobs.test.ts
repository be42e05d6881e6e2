// Jobs: create, replace, read, list, delete.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const path = (jobName: string) => `/job/api/jobs/${encodeURIComponent(jobName)}`

test('PUT answers 201 with every field when it creates, 200 when it replaces', async () => {
  const document = { steps: [{ run: 'apt upgrade', 'with blanks': null }], n: 1.5 }
  const content = {
    description: 'First line\n\tsecond',
    document,
    expireAfterSeconds: 60,
    timeoutSeconds: 31_536_000,
    deadlineSeconds: 1,
    retry: { max: 3, backoffSeconds: 0, on: ['TIMED_OUT'] },
    rollout: { waves: [{ size: 1 }, { size: '100%' }] },
    approval: true,
    signatures: [],
  }
  const created = await api.call('PUT', path('update'), { body: content })
  assert.equal(created.status, 201)
  const { createdAt, updatedAt, updatedBy, updatedByName, ...rest } = created.json
  const { keyId, keyName } = (await api.call('GET', '/job/api/keys/self')).json
  assert.deepEqual([updatedBy, updatedByName], [`key:${keyId}`, keyName])
  assert.deepEqual(rest, {
    ...{ jobName: 'update', version: 1, priority: 5 },
    ...{ ...content, parameters: null, window: null },
  })
  assert.equal(createdAt, updatedAt)
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

  clock.forward(1000)
  const replaced = await api.call('PUT', path('update'), { body: { document: { other: true } } })
  assert.equal(replaced.status, 200)
  assert.equal(replaced.json.createdAt, createdAt)
  assert.notEqual(replaced.json.updatedAt, createdAt)
  assert.deepEqual((await api.call('GET', path('update'))).json, replaced.json)
})

test('PUT leaves nothing of what was there before: what it does not name is empty', async () => {
  const policies = { expireAfterSeconds: 1, timeoutSeconds: 1, retry: { max: 1 } }
  const content = { description: 'a', document: { a: 1 }, ...policies }
  await api.call('PUT', path('emptied'), { body: content })
  const { json } = await api.call('PUT', path('emptied'), { body: {} })
  const { description, document, expireAfterSeconds, timeoutSeconds, deadlineSeconds, retry } = json
  assert.deepEqual(
    [description, document, expireAfterSeconds, timeoutSeconds, deadlineSeconds, retry],
    ['', {}, null, null, null, null],
  )
})

test('what a retry policy leaves out has its default: ten seconds, after a failure and after a time-out', async () => {
  const { json } = await api.call('PUT', path('retried'), { body: { retry: { max: 2 } } })
  assert.deepEqual(json.retry, { max: 2, backoffSeconds: 10, on: ['FAILED', 'TIMED_OUT'] })
  assert.deepEqual((await api.call('GET', path('retried'))).json, json)
})

test('PUT needs no body, with and without a content type', async () => {
  assert.equal((await api.call('PUT', path('bare'))).status, 201)
  assert.equal((await api.call('PUT', path('bare'), { rawBody: '' })).status, 200)
})

test('PUT of the same content again changes nothing, also not updatedAt', async () => {
  const first = await api.call('PUT', path('same'), { body: { document: { a: 1 } } })
  clock.forward(1000)
  const second = await api.call('PUT', path('same'), { body: { document: { a: 1 } } })
  assert.equal(second.status, 200)
  assert.equal(second.text, first.text)
})

const names = [
  'with a blank',
  'a/b',
  'ünï©ødé 🚪',
  '%41',
  'a?b#c',
  "' OR 1=1 --",
  'Execute',
  '🚪'.repeat(128),
]
for (const jobName of names) {
  test(`a job may be named ${jobName}`, async () => {
    assert.equal((await api.call('PUT', path(jobName))).status, 201)
    assert.equal((await api.call('GET', path(jobName))).json.jobName, jobName)
    assert.equal((await api.call('DELETE', path(jobName))).status, 204)
  })
}

test('no job can be named execute: J-902', async () => {
  assertRefused(await api.call('PUT', path('execute')), 'J-902')
})

for (const jobName of ['a\u0000', 'a\nb', ' ', 'a'.repeat(129)]) {
  test(`every method answers J-500 to the name ${JSON.stringify(jobName).slice(0, 20)}`, async () => {
    for (const method of ['PUT', 'GET', 'DELETE']) {
      assertRefused(await api.call(method, path(jobName)), 'J-500')
    }
  })
}

const refused: Record<string, unknown> = {
  'an unknown field': { documents: {} },
  'an ownerId': { ownerId: 'ow_other' },
  'a jobName': { jobName: 'update' },
  'a document that is an array': { document: [] },
  'a document that is null': { document: null },
  'a document that is text': { document: '{}' },
  'a description with NUL': { description: 'a\u0000' },
  'a description of 2001 characters': { description: 'a'.repeat(2001) },
  'zero seconds': { timeoutSeconds: 0 },
  'more than a year': { expireAfterSeconds: 31_536_001 },
  'half a second': { deadlineSeconds: 0.5 },
  'seconds as text': { timeoutSeconds: '60' },
  'seconds that are null': { timeoutSeconds: null },
  'a retry without max': { retry: {} },
  'a retry of no attempts': { retry: { max: 0 } },
  'a retry of more than 100 attempts': { retry: { max: 101 } },
  'a retry after another end': { retry: { max: 1, on: ['REJECTED'] } },
  'a retry after no end': { retry: { max: 1, on: [] } },
  'a retry with a rest of more than a day': { retry: { max: 1, backoffSeconds: 86_401 } },
  'a retry with an unknown field': { retry: { max: 1, backoff: 1 } },
  'an array': [],
  null: null,
}
for (const [title, body] of Object.entries(refused)) {
  test(`PUT answers J-500 to ${title} and changes nothing`, async () => {
    assertRefused(await api.call('PUT', path('never'), { body }), 'J-500')
    assertRefused(await api.call('GET', path('never')), 'J-301')
  })
}

test('PUT takes a document of 64 KiB and answers J-500 to one byte more', async () => {
  const document = (bytes: number) => ({ document: { a: 'x'.repeat(bytes - '{"a":""}'.length) } })
  assert.equal((await api.call('PUT', path('large'), { body: document(65_536) })).status, 201)
  assertRefused(await api.call('PUT', path('large'), { body: document(65_537) }), 'J-500')
})

test('PUT answers J-905 to a body of another type and J-904 to one over 1 MiB', async () => {
  const headers = { 'content-type': 'text/plain' }
  const typed = await api.call('PUT', path('typed'), { rawBody: '{}', headers })
  assert.deepEqual([typed.status, typed.json.code], [415, 'J-905'])
  assert.match(typed.json.message, /^Unsupported Content-Type: send application\/json in UTF-8/)
  const tooLong = '{}'.padEnd(1024 * 1024 + 1)
  assertRefused(await api.call('PUT', path('typed'), { rawBody: tooLong }), 'J-904')
})

test('GET and DELETE answer J-301 for an unknown job', async () => {
  assertRefused(await api.call('GET', path('nowhere')), 'J-301')
  assertRefused(await api.call('DELETE', path('nowhere')), 'J-301')
})

test('DELETE answers 204 once, then J-301; its executions continue; a new job of the name is a new one', async () => {
  await api.putJobAndDevices('passing', ['d1'])
  const [execution] = (await api.trigger('passing', ['d1'])).json
  const before = (await api.call('GET', path('passing'))).json
  assert.equal((await api.call('DELETE', `${path('passing')}?force=true`)).status, 204)
  assertRefused(await api.call('DELETE', path('passing')), 'J-301')
  assertRefused(await api.call('GET', path('passing')), 'J-301')

  const kept = (await api.call('GET', `/job/api/executions/${execution.jobExecutionId}`)).json
  assert.equal(kept.execState, 'PENDING')
  assert.equal(kept.jobName, 'passing')

  clock.forward(1000)
  const again = await api.call('PUT', path('passing'), { body: {} })
  assert.equal(again.status, 201)
  assert.notEqual(again.json.createdAt, before.createdAt)
})

test('DELETE answers J-315 with what needs the job, up to five names of each kind, unless it is forced', async () => {
  await api.putJobAndDevices('needed', ['d1', 'd2'])
  const started = (await api.trigger('needed', ['d1'])).headers.get('location') as string
  const schedule = { jobName: 'needed', targets: { deviceIds: ['d1'] }, when: { cron: '0 3 * * *' } }
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => `needs-${each}`)
  for (const name of names) await api.call('PUT', `/job/api/schedules/${name}`, { body: schedule })
  const refusal = await api.call('DELETE', path('needed'))
  assert.deepEqual([refusal.status, refusal.json.code], [409, 'J-315'])
  const runId = started.split('/').at(-1)
  assert.equal(
    refusal.json.message,
    `The resource is in use: by the schedules ${names.slice(0, 5).join(', ')} and others, and by the waiting run ${runId}`,
  )
  assert.equal((await api.trigger('needed', ['d2'])).status, 201)
  assertRefused(await api.call('DELETE', `${path('needed')}?force=perhaps`), 'J-500')
  assert.equal((await api.call('DELETE', `${path('needed')}?force=false`)).json.code, 'J-315')

  // What nothing needs any more can be deleted; a paused schedule still needs it.
  for (const name of names.slice(1)) await api.call('DELETE', `/job/api/schedules/${name}`)
  await api.call('POST', '/job/api/schedules/needs-a/pause')
  const { items } = (await api.call('GET', '/job/api/runs?jobName=needed')).json
  for (const run of items) await api.call('POST', `/job/api/runs/${run.runId}/cancel`)
  const { json } = await api.call('DELETE', path('needed'))
  assert.equal(json.message, 'The resource is in use: by the schedule needs-a')
  await api.call('DELETE', '/job/api/schedules/needs-a')
  assert.equal((await api.call('DELETE', path('needed'))).status, 204)
  assertRefused(await api.call('DELETE', path('needed')), 'J-301')
})

test('DELETE answers J-301 for a deleted job that schedules still name', async () => {
  await api.putJobAndDevices('named-only', ['d1'])
  const schedule = { jobName: 'named-only', targets: { deviceIds: ['d1'] }, when: { cron: '0 3 * * *' } }
  await api.call('PUT', '/job/api/schedules/of-named-only', { body: schedule })
  assert.equal((await api.call('DELETE', `${path('named-only')}?force=true`)).status, 204)
  assertRefused(await api.call('DELETE', path('named-only')), 'J-301')
})
