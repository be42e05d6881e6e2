// Schedules and runs with startAt that a key has created. They continue after its revocation, unless it is revoked with its
// descendants.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Scope } from '@jobcast/contract'
import { newDevice } from '@jobcast/testkit/call-device'
import { EventListener } from '@jobcast/testkit/event-listener'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'

const hourMs = 60 * 60_000
const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const keys = '/job/api/keys'
await api.call('PUT', '/job/api/jobs/collect', { body: {} })
const device = await newDevice(api, 'left')
const targets = { deviceIds: ['left'] }
const nightly = { jobName: 'collect', targets, when: { cron: '0 3 * * *' } }
const newKey = async (keyName: string, scopes: Scope[], more: object = {}, key = api.adminKey) =>
  (await api.call('POST', keys, { key, body: { keyName, scopes, ...more } })).json
const read = async (path: string) => (await api.call('GET', `/job/api/${path}`)).json
const putSchedule = (name: string, key: string, body: object = nightly) =>
  api.call('PUT', `/job/api/schedules/${name}`, { key, body })
const startLater = async (key: string, inMs = hourMs) => {
  const startAt = new Date(clock.now() + inMs).toISOString()
  return (await api.call('POST', '/job/api/runs', { key, body: { jobName: 'collect', targets, startAt } }))
    .json
}

const listener = await EventListener.open(api.http, api.adminKey, { query: '?types=schedule.*,run.*' })
after(() => listener.close())

test('putting and resuming a schedule needs TRIGGER in addition to MANAGE, before its body is read', async () => {
  const manager = await newKey('manager', ['MANAGE', 'READ'])
  assertRefused(await putSchedule('refused', manager.apiKey), 'J-804', 'TRIGGER')
  assertRefused(await putSchedule('refused', manager.apiKey, { wrong: 1 }), 'J-804', 'TRIGGER')
  const trigger = await newKey('trigger', ['TRIGGER'])
  assertRefused(await putSchedule('refused', trigger.apiKey), 'J-804', 'MANAGE')
  assert.equal((await putSchedule('taken', api.adminKey)).status, 201)
  const act = (name: string) => api.call('POST', `/job/api/schedules/taken/${name}`, { key: manager.apiKey })
  assert.equal((await act('pause')).status, 200)
  assertRefused(await act('resume'), 'J-804', 'TRIGGER')
  assertRefused(await act('fire'), 'J-804', 'TRIGGER')
})

test('revoking a key with its descendants pauses everything that starts automatically, and the response lists it', async () => {
  const chain = await newKey('chain', ['MANAGE', 'TRIGGER'])
  const child = await newKey('child', ['MANAGE', 'TRIGGER'], {}, chain.apiKey)
  await putSchedule('by-chain', chain.apiKey)
  await putSchedule('by-child', child.apiKey, {
    ...nightly,
    when: { match: true },
    targets: { where: 'tag = x' },
  })
  await putSchedule('by-other', api.adminKey)
  const late = await startLater(child.apiKey)
  const other = await startLater(api.adminKey)

  assert.equal((await api.call('DELETE', `${keys}/${chain.keyId}`)).status, 204)
  const { paused, updatedByName, updatedByState } = await read('schedules/by-chain')
  assert.deepEqual([paused, updatedByName, updatedByState], [false, 'chain', 'REVOKED'])

  const { ownerId } = chain
  const revoked = await api.call('DELETE', `${keys}/${chain.keyId}?descendants=true`)
  assert.deepEqual(revoked.json, {
    ...{ revokedKeys: 1, revokedEnrollments: 0, isMore: false, pausedRuns: [{ ownerId, runId: late.runId }] },
    pausedSchedules: ['by-chain', 'by-child'].map((scheduleName) => ({ ownerId, scheduleName })),
  })
  const because = 'the key chain was revoked with its descendants'
  for (const name of ['by-chain', 'by-child']) {
    const schedule = await read(`schedules/${name}`)
    const { pausedBecause, pausedByName, nextAt } = schedule
    assert.deepEqual([schedule.paused, pausedBecause, pausedByName, nextAt], [true, because, 'admin', null])
  }
  const { rollout } = await read(`runs/${late.runId}`)
  assert.deepEqual([rollout.state, rollout.pausedBecause], ['PAUSED', because])
  assert.equal((await read('schedules/by-other')).paused, false)
  assert.equal((await read(`runs/${other.runId}`)).rollout.state, 'SCHEDULED')
  type Data = { because?: string; scheduleName?: string; runId?: number }
  const pauses = () =>
    (listener.events as unknown as { type: string; data: Data }[]).filter(
      ({ type, data }) => type.endsWith('.paused') && data.because === because,
    )
  await listener.until(() => pauses().length === 3)
  assert.deepEqual(
    pauses().map(({ data }) => data.scheduleName ?? data.runId),
    ['by-chain', 'by-child', late.runId],
  )
  const again = await api.call('DELETE', `${keys}/${chain.keyId}?descendants=true`)
  assert.deepEqual([again.json.pausedSchedules, again.json.pausedRuns], [[], []])
})

test('schedules paused with their key are resumed by another key, to which they belong from then on', async () => {
  const maker = await newKey('maker', ['MANAGE', 'TRIGGER'])
  await putSchedule('resumed', maker.apiKey)
  const [soon, late] = [await startLater(maker.apiKey), await startLater(maker.apiKey, 5 * hourMs)]
  await api.call('DELETE', `${keys}/${maker.keyId}?descendants=true`)
  const { json } = await api.call('POST', '/job/api/schedules/resumed/resume')
  assert.deepEqual([json.paused, json.updatedByName, json.updatedByState], [false, 'admin', 'ACTIVE'])
  // Not before its time, and at once when that has passed.
  const resume = async ({ runId }: { runId: number }) =>
    (await api.call('POST', `/job/api/runs/${runId}/resume`)).json.rollout
  assert.equal((await resume(late)).state, 'SCHEDULED')
  clock.forward(2 * hourMs)
  assert.equal((await read(`runs/${soon.runId}`)).rollout.state, 'PAUSED')
  assert.equal((await resume(soon)).state, 'RELEASED')
  await waitUntil('the device gets it', async () => (await device.startNext()).json.execution !== undefined)
  await api.call('DELETE', `${keys}/${maker.keyId}?descendants=true`)
  assert.equal((await read('schedules/resumed')).paused, false)
})

test('a schedule continues after its key has expired, and says so until somebody puts it again', async () => {
  const expiresAt = new Date(clock.now() + hourMs).toISOString()
  const brief = await newKey('brief', ['MANAGE', 'TRIGGER'], { expiresAt })
  const body = { ...nightly, when: { at: new Date(clock.now() + 2 * hourMs).toISOString() } }
  await putSchedule('brief', brief.apiKey, body)
  assert.equal((await read('schedules/brief')).updatedByState, 'ACTIVE')
  clock.forward(hourMs + 1)
  const { items } = await read('schedules?limit=200')
  const listed = items.find(({ scheduleName }: { scheduleName: string }) => scheduleName === 'brief')
  assert.deepEqual([listed.paused, listed.updatedByName, listed.updatedByState], [false, 'brief', 'EXPIRED'])
  const { json } = await putSchedule('brief', api.adminKey, body)
  assert.deepEqual([json.updatedByName, json.updatedByState], ['admin', 'ACTIVE'])
  const before = json.updatedAt
  clock.forward(1000)
  assert.equal((await putSchedule('brief', api.adminKey, body)).json.updatedAt, before)
  clock.forward(hourMs)
  await waitUntil('it has run', async () => (await read('schedules/brief')).lastRunId !== null)
})

test('a parameter that a later version makes a secret is masked in schedules', async () => {
  const schemaOf = (more: object) => ({ type: 'object', properties: { token: { type: 'string', ...more } } })
  await api.call('PUT', '/job/api/jobs/secretive', { body: { parameters: schemaOf({}) } })
  const body = { ...nightly, jobName: 'secretive', parameters: { token: 'hunter2' } }
  assert.equal((await putSchedule('telling', api.adminKey, body)).json.parameters.token, 'hunter2')
  await api.call('PUT', '/job/api/jobs/secretive', { body: { parameters: schemaOf({ writeOnly: true }) } })
  assert.equal((await read('schedules/telling')).parameters.token, '********')
  assert.ok(!JSON.stringify(await read('schedules?limit=200')).includes('hunter2'))
  assert.equal((await api.call('POST', '/job/api/schedules/telling/fire')).json.parameters.token, '********')
  assertRefused(await putSchedule('telling', api.adminKey, body), 'J-500')
})
