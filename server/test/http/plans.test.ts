// Plans: the planId of a dry run starts exactly the shown run, once.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import { SecretBox } from '../../src/state/secret-box.ts'
import { errorText } from './assert-reply.ts'
import { openApp } from './open-app.ts'

const api = await openSharedServer()
const ids = Array.from({ length: 12 }, (_, index) => `n${String(index).padStart(2, '0')}`)
await api.putJobAndDevices('update', ids)
for (const id of ids)
  await api.call('PUT', `/job/api/devices/${id}`, {
    body: { tags: ['plans'], attributes: { site: 'berlin' } },
  })

type Answer = Awaited<ReturnType<typeof api.call>>
const where = 'tag=plans'
const accept = { accept: 'application/problem+json' }
const plan = async (more: object = {}, key?: string): Promise<Answer> => {
  const body = { jobName: 'update', targets: { where }, ...more }
  const reply = await api.call('POST', '/job/api/runs?dryRun=true', { body, ...(key && { key }) })
  assert.equal(reply.status, 200, reply.text)
  return reply
}
const start = (planId: string, beside: object = {}, key?: string, headers: Record<string, string> = accept) =>
  api.call('POST', '/job/api/runs', { body: { planId, ...beside }, headers, ...(key && { key }) })
const devicesOf = async (runId: number): Promise<string[]> => {
  const { json } = await api.call('GET', `/job/api/executions?runId=${runId}`)
  return json.items.map(({ deviceId }: { deviceId: string }) => deviceId).toReversed()
}
const cancel = (runId: number) => api.call('POST', `/job/api/runs/${runId}/cancel`, { body: {} })

function assertPlanRefused({ status, json, text }: Answer, words: RegExp, field?: string): void {
  assert.deepEqual([status, json.code, json.field], [409, 'J-505', field], text)
  assert.match(json.detail, words)
}

test('the planId alone starts exactly what was shown, in the order that was drawn, and only once', async () => {
  const rollout = { waves: [{ size: 3 }, { size: '100%' }], next: { action: 'PAUSE' } }
  const asked = { rollout, approval: true, note: 'Ticket 4711', priority: 7 }
  const { planId, waves } = (await plan(asked)).json
  const made = await start(planId)
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.get('location'), `/job/api/runs/${made.json.runId}`)
  const { runId, note, total, matched } = made.json
  assert.deepEqual([note, total, matched, made.json.where], ['Ticket 4711', 12, 12, where])
  assert.equal(made.json.priority, 7)
  assert.equal(made.json.rollout.state, 'AWAITING_APPROVAL')
  assert.deepEqual(made.json.rollout.definition, rollout)
  const devices = await devicesOf(runId)
  assert.deepEqual(devices.slice(0, 3), waves[0].sample)
  assert.deepEqual(devices.slice(3), waves[1].sample)
  const again = await start(planId)
  assert.deepEqual([again.status, again.json.runId], [201, runId])
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  const repeated = await start(planId, { jobName: 'update', ...asked }, undefined, {
    'idempotency-key': 'a-key-of-its-own',
  })
  assert.equal(repeated.json.runId, runId, 'another key does not make another run')
  // Each plan draws a new random order, so some of the plans differ.
  const orders = new Set<string>()
  for (let tries = 0; tries < 6; tries++) orders.add(JSON.stringify((await plan(asked)).json.waves[0].sample))
  assert.ok(orders.size > 1, 'the order is random')
  await cancel(runId)
})

test('calls at once start one run', async () => {
  const { planId } = (await plan()).json
  const replies = await Promise.all(Array.from({ length: 5 }, () => start(planId)))
  const made = replies.filter(({ status }) => status === 201).map(({ json }) => json.runId)
  assert.equal(new Set(made).size, 1)
  for (const { status, json } of replies) if (status !== 201) assert.equal(json.code, 'J-502')
  assert.equal((await start(planId)).json.runId, made[0])
  await cancel(made[0])
})

test('what stands beside the planId and differs is J-505 at its field', async () => {
  const asked = { rollout: { ratePerMinute: 60 }, note: 'as planned' }
  const { planId } = (await plan(asked)).json
  const refused: [object, string][] = [
    [{ jobName: 'other' }, 'jobName'],
    [{ targets: { where: 'tag=others' } }, 'targets'],
    [{ targets: { deviceIds: ids } }, 'targets'],
    [{ rollout: { ratePerMinute: 61 } }, 'rollout'],
    [{ ...asked, note: 'another' }, 'note'],
    [{ approval: true }, 'approval'],
    [{ version: 1 }, 'version'],
    [{ parameters: {} }, 'parameters'],
    [{ startAt: new Date(Date.now() + 60_000).toISOString() }, 'startAt'],
    [{ onMissing: 'SKIP' }, 'onMissing'],
  ]
  for (const [beside, field] of refused) {
    assertPlanRefused(await start(planId, beside), /Send the planId alone to start what was planned/, field)
  }
  const plain = await start(planId, { note: 'another' }, undefined, {})
  assert.deepEqual(plain.json, {
    ...{ code: 'J-505', message: 'The plan is no longer valid: its note is another', status: 409 },
  })
  const made = await start(planId, { jobName: 'update', targets: { where }, ...asked })
  assert.equal(made.status, 201, made.text)
  assertPlanRefused(await start(planId, { note: 'another' }), /planId alone/, 'note')
  await cancel(made.json.runId)
})

test('a job, a selection, an order or a window that has changed since is J-505, and says which', async () => {
  const body = { cron: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC' }
  await api.call('PUT', '/job/api/windows/plan-nights', { body })
  const first = (await plan()).json
  const canaries = (
    await plan({ rollout: { waves: [{ size: 1, where: 'site=lima or deviceId=n01' }, { size: '100%' }] } })
  ).json
  const nightly = (await plan({ window: 'plan-nights' })).json
  await api.call('PUT', '/job/api/devices/n12', { body: { tags: ['plans'] } })
  assertPlanRefused(await start(first.planId), /^It has 12 devices, and 13 match now\. Plan it again/)
  await api.call('DELETE', '/job/api/devices/n12')
  await api.call('PUT', '/job/api/devices/n00', { body: { tags: ['plans'], attributes: { site: 'lima' } } })
  await api.call('PUT', '/job/api/devices/n01', { body: { tags: ['plans'], attributes: { site: 'berlin' } } })
  const renamed = (await plan({ rollout: { waves: [{ size: 1, where: 'site=lima' }, { size: '100%' }] } }))
    .json
  await api.call('PUT', '/job/api/devices/n00', { body: { tags: ['plans'], attributes: { site: 'berlin' } } })
  await api.call('PUT', '/job/api/devices/n02', { body: { tags: ['plans'], attributes: { site: 'lima' } } })
  assertPlanRefused(
    await start(renamed.planId),
    /^Other devices match now, or in another order or other waves/,
  )
  await api.call('PUT', '/job/api/devices/n02', { body: { tags: ['plans'], attributes: { site: 'berlin' } } })
  await api.call('PUT', '/job/api/windows/plan-nights', { body: { ...body, durationMinutes: 30 } })
  assertPlanRefused(await start(nightly.planId), /^The window of the run has changed since/)
  await api.call('PUT', '/job/api/jobs/update', { body: { document: { changed: 1 } } })
  assertPlanRefused(await start(first.planId), /^The job update has changed since/)
  assertPlanRefused(await start(canaries.planId), /^The job update has changed since/)
  const listed = (await plan({ targets: { deviceIds: ['n03', 'n04'] } })).json
  await api.call('DELETE', '/job/api/devices/n04')
  assertPlanRefused(await start(listed.planId), /^Something that it names no longer exists: .*\(n04\)/)
  await api.call('PUT', '/job/api/devices/n04', { body: { tags: ['plans'], attributes: { site: 'berlin' } } })
  assertPlanRefused(await start('made-up'), /^There is no such plan, or it is older than 10 minutes/)
  const gone = (await plan({ jobName: 'gone', ...(await putJob('gone')) })).json
  await api.call('DELETE', '/job/api/jobs/gone')
  assertPlanRefused(await start(gone.planId), /no longer exists/)
})

async function putJob(jobName: string, body: object = {}): Promise<object> {
  const put = await api.call('PUT', `/job/api/jobs/${jobName}`, { body })
  assert.ok(put.status < 300, put.text)
  return {}
}

test('a plan belongs to its owner, and starting it needs TRIGGER, and MANAGE where the plan did', async () => {
  const other = await api.newOwner('plan-stranger')
  const planner = await api.newKey(['TRIGGER', 'MANAGE'])
  const { planId } = (await plan({ ignoreWindows: true, note: 'urgent' }, planner.apiKey)).json
  assertPlanRefused(await start(planId, {}, other.key), /There is no such plan/)
  const reader = await api.newKey(['READ'])
  assert.equal((await start(planId, {}, reader.apiKey)).json.code, 'J-804')
  const trigger = await api.newKey(['TRIGGER'])
  assert.equal((await start(planId, {}, trigger.apiKey)).json.code, 'J-804')
  const made = await start(planId)
  assert.equal(made.status, 201, made.text)
  assert.equal((await start(planId, {}, trigger.apiKey)).json.runId, made.json.runId)
  await cancel(made.json.runId)
})

test('without a planId jobName and targets are required, and a plan is not planned', async () => {
  const post = (body: object, query = '') =>
    api.call('POST', `/job/api/runs${query}`, { body, headers: accept })
  for (const query of ['', '?dryRun=true']) {
    const [first, second] = [
      await post({ targets: { where } }, query),
      await post({ jobName: 'update' }, query),
    ]
    assert.deepEqual([first.json.code, first.json.detail], ['J-500', 'jobName is required.'])
    assert.deepEqual([second.json.field, second.json.detail], ['targets', 'targets is required.'])
  }
  const { json } = await post({ planId: 'x' }, '?dryRun=true')
  assert.deepEqual([json.code, json.field], ['J-500', 'planId'])
})

test('devices that are skipped are in no wave, and a plan that names what they lack starts without them', async () => {
  await putJob('needy', { document: { rack: '${device.attributes.rack}' } })
  await api.call('PUT', '/job/api/devices/n05', {
    body: { tags: ['plans'], attributes: { site: 'berlin', rack: 'r' } },
  })
  const refusing = (await plan({ jobName: 'needy' })).json
  assert.match(refusing.problems[0], /^11 devices lack some of these attributes: rack/)
  const lacking = await start(refusing.planId)
  assert.deepEqual([lacking.status, lacking.json.code], [409, 'J-506'])
  const skipping = (await plan({ jobName: 'needy', onMissing: 'SKIP' })).json
  assert.deepEqual([skipping.total, skipping.waves], [12, [{ size: 1, sample: ['n05'] }]])
  const made = await start(skipping.planId)
  assert.deepEqual([made.status, made.json.total], [201, 1])
  await cancel(made.json.runId)
})

test('the plan says what will hold the run, and what is probably wrong with it', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const later = (await plan({ startAt: inAnHour, approval: true })).json
  assert.deepEqual(
    later.holds.map(({ code, until }: { code: string; until: string | null }) => [code, until]),
    [
      ['SCHEDULED', inAnHour],
      ['AWAITING_APPROVAL', null],
    ],
  )
  const two = (await plan({ approval: { required: 2 } })).json
  assert.match(two.holds[0].text, /^The run waits for 2 approvals by somebody/)
  // One that is open half a day from now.
  const at = new Date(Date.now() + 12 * 3_600_000)
  const cron = `0 ${at.getUTCHours()} * * *`
  await api.call('PUT', '/job/api/windows/tonight', {
    body: { cron, durationMinutes: 60, timeZone: 'device' },
  })
  await api.call('PUT', '/job/api/devices/n06', { body: { tags: ['plans'], timeZone: 'Asia/Tokyo' } })
  await putJob('short', { expireAfterSeconds: 3600, deadlineSeconds: 200_000 })
  const rollout = { stop: [{ on: ['FAILED'], count: 1 }] }
  const held = (await plan({ jobName: 'short', window: 'tonight', rollout })).json
  assert.equal(held.holds.length, 1)
  assert.equal(held.holds[0].code, 'OUTSIDE_WINDOW')
  assert.match(
    held.holds[0].text,
    /^Window tonight is closed; it opens at .* in Asia\/Tokyo, .*Z for the first, opens at .* in UTC/,
  )
  assert.equal(new Date(held.holds[0].until).getUTCHours(), at.getUTCHours())
  assert.match(held.problems[0], /one wave without a rate, so all of it is released at once/)
  assert.match(
    held.problems[1],
    /^expireAfterSeconds of the job, 3600, is shorter than the wait for the window, up to \d+ s/,
  )
  assert.equal(held.problems.length, 2)
  const until = new Date(Date.now() + 7_200_000).toISOString()
  await api.call('POST', '/job/api/fleet/freeze', { body: { reason: 'Black Friday', until } })
  const frozen = (await plan()).json
  await api.call('DELETE', '/job/api/fleet/freeze')
  assert.deepEqual([frozen.holds[0].code, frozen.holds[0].until], ['FROZEN', until])
  assert.match(frozen.holds[0].text, /frozen by key admin .*: Black Friday\.$/)
  assert.deepEqual((await plan()).json.holds, [])
})

test('secrets of a plan are encrypted, reach the run, and a plan is too old after 10 minutes', async (t) => {
  let ahead = 0
  const moment = () => {
    const now = Date.now() + ahead
    return { at: now, clock: steadyInstant(now), chance: 0, cancelDeadlineMs: 60_000 }
  }
  const secretBox = new SecretBox([randomBytes(32)])
  const { app, adminKey, parts } = await openApp(t, { moment, secretBox })
  const call = async (method: 'POST' | 'PUT' | 'GET', url: string, payload?: object) => {
    const headers = { 'x-api-key': adminKey, ...accept }
    const reply = await app.inject({ method, url: `/job/api/${url}`, headers, ...(payload && { payload }) })
    return { status: reply.statusCode, json: reply.json() }
  }
  const parameters = { type: 'object', properties: { token: { type: 'string', writeOnly: true } } }
  const document = { token: '${params.token}' }
  assert.equal((await call('PUT', 'jobs/login', { document, parameters })).status, 201)
  await call('PUT', 'devices/d1', {})
  const secret = 'a-secret-that-is-kept'
  const asked = { jobName: 'login', targets: { deviceIds: ['d1'] }, parameters: { token: secret } }
  const { json: planned } = await call('POST', 'runs?dryRun=true', asked)
  assert.deepEqual(planned.document, { token: '********' })
  const stored = await parts.store.getPlan({ ownerNo: 1, planId: planned.planId })
  assert.ok(stored?.values?.secrets)
  assert.doesNotMatch(JSON.stringify(stored), new RegExp(secret))
  assert.equal(await parts.store.getPlan({ ownerNo: 2, planId: planned.planId }), undefined)
  const { planId } = planned
  const other = await call('POST', 'runs', { planId, parameters: { token: 'another' } })
  assert.deepEqual([other.json.code, other.json.field], ['J-505', 'parameters'])
  assert.doesNotMatch(JSON.stringify(other.json), new RegExp(secret))
  const old = (await call('POST', 'runs?dryRun=true', asked)).json
  const made = await call('POST', 'runs', { planId, parameters: { token: secret } })
  assert.equal(made.status, 201, JSON.stringify(made.json))
  const values = await parts.store.getRunValues({ runId: made.json.runId })
  assert.deepEqual(JSON.parse(secretBox.decrypt(values?.secrets ?? '', 1)), { token: secret })
  ahead = 10 * 60_000
  const { json } = await call('POST', 'runs', { planId: old.planId })
  assert.deepEqual(
    [json.code, json.detail],
    ['J-505', 'It is older than 10 minutes. Plan it again with dryRun=true, and start the new planId.'],
  )
  // What was started is found for as long as there is the run.
  assert.equal((await call('POST', 'runs', { planId })).json.runId, made.json.runId)
  await parts.store.purgePlans({ olderThan: moment().clock })
  assert.equal((await call('POST', 'runs', { planId })).json.runId, made.json.runId)
  const beside = await call('POST', 'runs', { planId, note: 'x' })
  assert.match(beside.json.detail, /^Run \d+ was started from it\. Send the planId alone to get that run\./)
})
test('who has planned cannot approve what somebody else has started', async () => {
  const planner = await api.newKey(['TRIGGER', 'APPROVE', 'READ'])
  const approver = await api.newKey(['APPROVE', 'READ'])
  const { planId } = (await plan({ approval: true }, planner.apiKey)).json
  const { runId } = (await start(planId)).json
  const approve = (key?: string) =>
    api.call('POST', `/job/api/runs/${runId}/approve`, { body: {}, ...(key && { key }) })
  assert.equal((await approve(planner.apiKey)).text, errorText('J-810'))
  assert.equal((await approve()).text, errorText('J-810'))
  assert.equal((await approve(approver.apiKey)).status, 200)
  await cancel(runId)
})
