// Keys that are restricted to devices by a selector. The matrix comes from the OpenAPI document: every operation, with each
// id it takes once of a device that the key cannot see, and once unknown. Both responses must be the same to the
// byte, except for the id; operations without a rule in device-operations.ts are refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventListener } from '@jobcast/testkit/event-listener'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { deviceOperations, deviceRuleOf } from '../../src/domain/access/device-operations.ts'
import { restrictedOperations } from '../../src/domain/access/restricted-operations.ts'
import { assertRefused } from './assert-reply.ts'

type Document = { paths: Record<string, Record<string, Operation>> }
type Operation = { operationId: string; security?: unknown[]; requestBody?: object }

const api = await openSharedServer()
const { paths } = (await api.call('GET', '/openapi.json')).json as Document
const operations = Object.entries(paths)
  .filter(([path]) => path.startsWith('/job/api/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, requestBody, security }]) => ({
      ...{ path, method: method.toUpperCase(), id, hasBody: requestBody !== undefined },
      isOpen: security?.length === 0,
    })),
  )
  .filter(({ isOpen }) => !isOpen)

const scopes = ['TRIGGER', 'READ', 'MANAGE', 'APPROVE', 'AUDIT']
const putDevice = (deviceId: string, body: object) =>
  api.call('PUT', `/job/api/devices/${deviceId}`, { body: { deviceName: deviceId, ...body } })
const newKey = async (more: object) => {
  const body = { keyName: 'restricted', scopes, ...more }
  return (await api.call('POST', '/job/api/keys', { body })).json as { apiKey: string; where: string }
}
const idOf = ({ headers }: { headers: Headers }) => headers.get('location')?.split('/').at(-1) ?? ''

await api.putJobAndDevices('our-job', [])
await putDevice('ours-1', { tags: ['ours'], attributes: { site: 'lima' } })
await putDevice('ours-2', { tags: ['ours'] })
await putDevice('hidden-1', { tags: ['CANARY'], attributes: { hiddenName: 'CANARY' } })
for (const name of ['hidden-webhook', 'taken'])
  await api.call('PUT', `/job/api/webhooks/${name}`, { body: { url: 'https://hook.invalid/CANARY' } })
const { apiKey: key } = await newKey({ where: 'tag=ours' })
const hiddenRun = await api.trigger('our-job', ['hidden-1'])
const wholeRun = await api.trigger('our-job', ['ours-1', 'ours-2'])
const mixedRun = await api.trigger('our-job', ['ours-1', 'hidden-1'])
const execution = hiddenRun.json[0].jobExecutionId

const ids: Record<string, { hidden: string; unknown: string }> = {
  deviceId: { hidden: 'hidden-1', unknown: 'absent-1' },
  runId: { hidden: idOf(hiddenRun), unknown: '987654321' },
  jobExecutionId: { hidden: String(execution), unknown: '987654321' },
  jobName: { hidden: 'our-job', unknown: 'our-job' },
  version: { hidden: '1', unknown: '1' },
  webhookName: { hidden: 'hidden-webhook', unknown: 'absent-webhook' },
  eventId: { hidden: '1', unknown: '987654321' },
}
type Which = 'hidden' | 'unknown'
const newWebhook = { url: 'https://hook.invalid/own', secret: `whsec_${'a'.repeat(32)}` }
const bodies: Record<string, (which: Which) => object> = {
  triggerJob: (which) => ({ jobName: 'our-job', deviceIds: ['ours-1', ids.deviceId?.[which]] }),
  createRun: (which) => ({ jobName: 'our-job', targets: { deviceIds: [ids.deviceId?.[which]] } }),
  countDevices: (which) => ({ where: `deviceId=${ids.deviceId?.[which]} or ${which}Name=CANARY` }),
  createKey: () => ({ keyName: 'made', scopes: ['READ'] }),
  changeRun: () => ({ rollout: {} }),
  putWebhook: () => newWebhook,
  replayWebhook: () => ({ since: '2026-01-01T00:00:00Z' }),
}
const queries: Record<string, (which: Which) => string> = {
  listDevices: (which) => `?where=deviceId=${ids.deviceId?.[which]}`,
  listExecutions: (which) => `?runId=${ids.runId?.[which]}`,
}

async function ask({ path, method, id, hasBody }: (typeof operations)[number], which: Which) {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (id === 'putWebhook' && name === 'webhookName') return which === 'hidden' ? 'taken' : 'free'
    return ids[name]?.[which] ?? `no-${name}`
  })
  const reply = await api.call(method, address + (queries[id]?.(which) ?? ''), {
    ...{ key, ...(hasBody && { body: bodies[id]?.(which) ?? {} }) },
  })
  let text = reply.text
    .replaceAll(/"requestId":"[^"]+"/g, '<request>')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '<instant>')
  for (const each of Object.values(ids))
    text = text.replaceAll(new RegExp(`\\b${each[which]}\\b`, 'g'), '<id>')
  if (id === 'putWebhook') text = text.replace(/"webhookName":"(?:taken|free)"/, '<id>')
  return { status: reply.status, code: reply.json?.code, text }
}

/** It does not end; there is a test of its own. */
const neverEnds = 'followEvents'
const notFound: Record<string, string> = {
  ...{ device: 'J-001', run: 'J-304', 'whole-run': 'J-304', execution: 'J-302' },
}

for (const operation of operations.filter(({ id }) => id !== neverEnds)) {
  const { path, id } = operation
  const rule = deviceRuleOf(operation.id)
  test(`${operation.method} ${operation.path} (${rule ?? 'refused'}) tells nothing of other devices`, async () => {
    const hidden = await ask(operation, 'hidden')
    if (rule === undefined) assert.equal(hidden.code, /Owners?$/.test(operation.id) ? 'J-804' : 'J-814')
    if (path.includes('{webhookName}') && id !== 'putWebhook') assert.equal(hidden.code, 'J-307')
    if (rule !== undefined && rule in notFound) assert.equal(hidden.code, notFound[rule])
    if (operation.id === 'createKey' || operation.id === 'createSignInTicket') return
    assert.doesNotMatch(hidden.text, /CANARY|hidden/)
    assert.deepEqual(hidden, await ask(operation, 'unknown'))
  })
}

test('every rule is of an operation, and only the map of the fleet is open to this restriction alone', () => {
  const known = new Set([...operations.map(({ id }) => id), 'callMcp'])
  assert.deepEqual(
    deviceOperations.filter((id) => !known.has(id) || !restrictedOperations.includes(id)),
    // They show the last execution of each device, of whatever job.
    ['listFleetDevices', 'getFleetGroups'],
  )
  for (const name of ['toString', 'newOperation', undefined]) assert.equal(deviceRuleOf(name), undefined)
})

const get = async (path: string) => (await api.call('GET', `/job/api${path}`, { key })).json
const post = (path: string, body: object = {}) => api.call('POST', `/job/api${path}`, { key, body })

test('lists have the devices of the key, their executions, and runs that have one of them', async () => {
  const names = async (path: string, name: string) =>
    (await get(path)).items.map((each: Record<string, unknown>) => each[name])
  assert.deepEqual(await names('/devices', 'deviceId'), ['ours-1', 'ours-2'])
  assert.deepEqual(await names('/devices?where=own.site=lima', 'deviceId'), ['ours-1'])
  assert.deepEqual(await names('/devices?tag=CANARY', 'deviceId'), [])
  assert.deepEqual(await names('/executions?deviceId=hidden-1', 'deviceId'), [])
  assert.ok(!(await names('/executions', 'deviceId')).includes('hidden-1'))
  assert.ok((await names('/executions?limit=1', 'deviceId')).length === 1)
  const runs = await names('/runs?limit=200', 'runId')
  assert.ok(runs.includes(Number(idOf(wholeRun))) && runs.includes(Number(idOf(mixedRun))))
  assert.ok(!runs.includes(Number(idOf(hiddenRun))))
  const { json } = await post('/devices/count', { where: 'all' })
  assert.deepEqual([json.total, json.sample], [2, ['ours-1', 'ours-2']])
})

test('the map of the fleet has the devices of the key, with their executions, and counts them', async () => {
  assert.equal((await api.trigger('our-job', ['ours-1', 'hidden-1'])).status, 201)
  const { items, nextCursor } = await get('/fleet/devices')
  const ofKey = items.map(({ deviceId }: { deviceId: string }) => deviceId)
  assert.deepEqual([ofKey, nextCursor], [['ours-1', 'ours-2'], null])
  const whole = (await api.call('GET', '/job/api/fleet/devices')).json.items
  assert.deepEqual(
    items,
    whole.filter(({ deviceId }: { deviceId: string }) => ofKey.includes(deviceId)),
  )
  const first = await get('/fleet/devices?limit=1')
  assert.deepEqual([first.items.length, atob(first.nextCursor)], [1, '"ours-1"'])
  const second = await get(`/fleet/devices?limit=1&cursor=${first.nextCursor}`)
  assert.deepEqual([second.items[0].deviceId, second.nextCursor], ['ours-2', null])
  for (const by of ['tag', 'site', 'hiddenName']) {
    const counted = await get(`/fleet/groups?by=${by}`)
    assert.equal(counted.all.devices, 2)
    assert.doesNotMatch(JSON.stringify(counted.groups), /CANARY/)
  }
  assertRefused(await api.call('GET', '/job/api/fleet/groups?by=group', { key }), 'J-814')
})

test('a run that has other devices too has the counts of those of the key, and cannot be acted on', async () => {
  const body = {
    jobName: 'our-job',
    targets: { where: 'all' },
    rollout: { waves: [{ size: 1 }, { size: '100%' }] },
  }
  const { json: made } = await api.call('POST', '/job/api/runs', { body })
  assert.equal(made.total, 3)
  const { total, counts, where, matched, rollout } = await get(`/runs/${made.runId}`)
  assert.deepEqual([total, counts.PENDING, where, matched, rollout], [2, 2, null, null, null])
  const listed = (await get('/runs?limit=1')).items[0]
  assert.deepEqual([listed.runId, listed.total], [made.runId, 2])
  for (const path of ['cancel', 'pause', 'retry'])
    assertRefused(await post(`/runs/${made.runId}/${path}`), 'J-814')
  const { items } = await get(`/executions?runId=${made.runId}`)
  for (const { jobExecutionId } of items) {
    const { text } = await get(`/executions/${jobExecutionId}/explain`)
    assert.doesNotMatch(text, /\b3\b|wave/)
  }
  assert.equal((await api.call('POST', `/job/api/runs/${made.runId}/cancel`, { body: {} })).status, 200)
})

test('a run is finished when the devices of the key are, whatever becomes of others', async () => {
  const run = await api.trigger('our-job', ['ours-2', 'hidden-1'])
  const own = run.json[0].jobExecutionId
  assert.equal((await post(`/executions/${own}/cancel`)).status, 200)
  const { finished, finishedAt, total } = await get(`/runs/${idOf(run)}?wait=10`)
  assert.deepEqual([finished, typeof finishedAt, total], [true, 'string', 1])
  const listed = async (query: string) =>
    (await get(`/runs?limit=200&${query}`)).items.some(
      ({ runId }: { runId: number }) => String(runId) === idOf(run),
    )
  assert.equal(await listed('finished=true'), true)
  assert.equal(await listed('finished=false'), false)
  assert.equal(await listed('execState=PENDING'), false)
  assert.equal(await listed('execState=CANCELED'), true)
})

test('a key triggers its devices, picks among them, and cancels what it has started', async () => {
  const triggered = await api.trigger('our-job', ['ours-1'], { key })
  assert.equal(triggered.status, 201)
  assert.equal((await post(`/runs/${idOf(triggered)}/cancel`)).status, 200)
  const problem = async (by: string, deviceId: string) => {
    const deviceIds = ['ours-1', deviceId, 'absent-1']
    const body = { jobName: 'our-job', deviceIds }
    const headers = { accept: 'application/problem+json' }
    const { text } = await api.call('POST', '/job/api/jobs/execute', { key: by, headers, body })
    return text.replaceAll(deviceId, '<id>').replaceAll(/"requestId":"[^"]+"/g, '<request>')
  }
  const unknown = await problem(api.adminKey, 'absent-2')
  assert.match(unknown, /J-001/)
  assert.equal(await problem(key, 'hidden-1'), unknown)
  const targets = { where: 'all' }
  const { json } = await post('/runs', { jobName: 'our-job', targets })
  assert.deepEqual([json.total, json.matched], [2, 2])
  assertRefused(await post('/runs', { jobName: 'our-job', targets: { where: 'tag=CANARY' } }), 'J-504')
  const { json: plan } = await post('/runs?dryRun=true', { jobName: 'our-job', targets })
  assert.deepEqual([plan.total, plan.problems], [2, []])
  assert.equal((await post('/runs', { planId: plan.planId })).json.total, 2)
})

test('a plan of others is unknown, before and after it was started', async () => {
  const body = { jobName: 'our-job', targets: { where: 'all' } }
  const absent = (await post('/runs', { planId: '0'.repeat(22) })).text
  const { planId } = (await api.call('POST', '/job/api/runs?dryRun=true', { body })).json
  assert.equal((await post('/runs', { planId })).text, absent)
  assert.equal((await api.call('POST', '/job/api/runs', { body: { planId } })).status, 201)
  assert.equal((await post('/runs', { planId })).text, absent)
})

test('an idempotency key of others does not lead to other devices', async () => {
  const headers = { 'idempotency-key': 'theirs' }
  assert.equal((await api.trigger('our-job', ['hidden-1'], { headers })).status, 201)
  assertRefused(await api.trigger('our-job', ['hidden-1'], { headers, key }), 'J-001')
  const body = { jobName: 'our-job', targets: { deviceIds: ['hidden-1'] } }
  const more = { body, headers: { 'idempotency-key': 'their-run' } }
  assert.equal((await api.call('POST', '/job/api/runs', more)).status, 201)
  assertRefused(await api.call('POST', '/job/api/runs', { ...more, key }), 'J-001')
})

test('the stream has events of the devices of the key, and counts of these', async (t) => {
  const listener = await EventListener.open(api.http, key, { query: '?after=0' })
  const ofHidden = await EventListener.open(api.http, key, { query: '?after=0&deviceId=hidden-1' })
  t.after(() => Promise.all([listener.close(), ofHidden.close()]))
  await api.call('PATCH', '/job/api/devices/hidden-1', { body: { deviceName: 'CANARY' } })
  await api.call('PUT', '/job/api/groups/hidden-group', { body: { where: 'tag=CANARY' } })
  const run = await api.trigger('our-job', ['ours-1', 'hidden-1'])
  for (const { jobExecutionId } of run.json)
    await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`, { body: {} })
  const isLast = ({ type, data }: { type: string; data: object }) =>
    type === 'run.finished' && 'runId' in data && String(data.runId) === idOf(run)
  await listener.until(() => listener.events.some(isLast))
  const { data } = listener.events.find(isLast) as unknown as { data: { total: number; counts: object } }
  assert.equal(data.total, 1)
  assert.equal((data.counts as { CANCELED: number }).CANCELED, 1)
  assert.doesNotMatch(JSON.stringify(listener.events), /hidden|CANARY/)
  assert.deepEqual(ofHidden.events, [])
  assertRefused(await api.call('GET', '/job/api/events?types=group.*', { key }), 'J-814')
})

test('the selector is judged with each call', async () => {
  await putDevice('moving', { tags: ['ours'] })
  assert.equal((await api.trigger('our-job', ['moving'], { key })).status, 201)
  await putDevice('moving', { tags: [] })
  assertRefused(await api.trigger('our-job', ['moving'], { key }), 'J-001')
})

test('a key that a restricted key creates is restricted by both selectors', async () => {
  const create = (more: object) => post('/keys', { keyName: 'child', scopes: ['READ'], ...more })
  assert.equal((await create({})).json.where, 'tag=ours')
  assert.equal((await create({ where: 'tag=ours' })).json.where, 'tag=ours')
  const { json } = await create({ where: 'all or deviceId=hidden-1' })
  assert.equal(json.where, '(tag=ours) and (all or deviceId=hidden-1)')
  assertRefused(await api.call('GET', '/job/api/devices/hidden-1', { key: json.apiKey }), 'J-001')
  assert.equal(
    (await create({ where: `site in (${'x'.repeat(4000)}, ${'y'.repeat(80)})` })).json.code,
    'J-500',
  )
})

test('a selector over what a device can change is refused', async () => {
  for (const where of [
    ...['online', 'not online', 'tag=ours or reported.fw=1', 'deviceName=x', 'group=kiosks'],
    ...['tag=', '(', ''],
  ]) {
    const reply = await api.call('POST', '/job/api/keys', {
      body: { keyName: 'wrong', scopes: ['READ'], where },
    })
    assert.equal(reply.json.code, 'J-500', where)
  }
  const body = { keyName: 'wrong', scopes: ['ADMIN'], where: 'all' }
  assert.equal((await api.call('POST', '/job/api/keys', { body })).json.code, 'J-500')
})

test('a name without a prefix is set by the owner, not reported by the device', async () => {
  const { apiKey } = await newKey({ where: 'site=lima' })
  const seen = await api.call('GET', '/job/api/devices', { key: apiKey })
  assert.deepEqual(
    seen.json.items.map((each: { deviceId: string }) => each.deviceId),
    ['ours-1'],
  )
})

test('tools of MCP can be called by a restricted key, and show its devices', async () => {
  const headers = { accept: 'application/json, text/event-stream' }
  const params = { name: 'find_devices', arguments: { where: 'all' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const reply = await api.call('POST', '/mcp', { key, headers, body })
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.text, /ours-1/)
  assert.doesNotMatch(reply.text, /hidden-1|CANARY/)
})

test('the fleet and the statistics have the devices of the key and their executions', async (t) => {
  await putDevice('counted-1', { tags: ['counted'] })
  await putDevice('counted-2', { tags: ['counted'] })
  const { apiKey: before } = await newKey({ where: 'tag=counted' })
  const nothing = (await api.call('GET', '/job/api/fleet', { key: before })).json
  assert.deepEqual([nothing.devices.total, nothing.waiting, nothing.oldestWaiting], [2, 0, null])
  const run = await api.trigger('our-job', ['hidden-1', 'counted-1', 'counted-2'])
  await api.trigger('our-job', ['hidden-1'])
  const [, first, second] = run.json
  const end = `/job/api/executions/${first.jobExecutionId}/cancel`
  assert.equal((await api.call('POST', end, { body: {} })).status, 200)
  // The selector of another key: the same devices, but not the counts that are cached.
  const { apiKey: other } = await newKey({ where: 'tag=counted and tag=counted' })
  const fleet = (await api.call('GET', '/job/api/fleet', { key: other })).json
  assert.deepEqual([fleet.devices, fleet.waiting, fleet.running], [{ total: 2, online: 0 }, 1, 0])
  assert.deepEqual([fleet.history.waiting.at(-1), fleet.history.waiting.at(-2)], [1, 0])
  assert.equal(fleet.oldestWaiting.jobExecutionId, second.jobExecutionId)
  const stats = (await api.call('GET', '/job/api/stats', { key: other })).json
  const { total, counts } = stats.overall
  assert.deepEqual([total, counts.PENDING, counts.CANCELED], [2, 1, 1])
  assert.equal((await api.call('GET', '/job/api/stats?jobName=absent', { key: other })).json.overall.total, 0)
  await t.test('also after a device has left the selector', async () => {
    await putDevice('counted-1', { tags: [] })
    const { apiKey: third } = await newKey({ where: 'tag=counted and tag!=x' })
    const left = (await api.call('GET', '/job/api/stats', { key: third })).json.overall
    assert.deepEqual([left.total, left.counts.CANCELED], [1, 0])
  })
})
