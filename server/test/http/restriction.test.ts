// Keys that are restricted to jobs, or to addresses. The matrix comes from the OpenAPI document: every operation, with each
// id it takes once of a job that the key cannot see, and once unknown. Both responses must be the same to the byte,
// except for the id; operations without a rule in restricted-operations.ts are refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { EventListener } from '@jobcast/testkit/event-listener'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { restrictedOperations, restrictedRuleOf } from '../../src/domain/access/restricted-operations.ts'
import { assertRefused, errorText } from './assert-reply.ts'

type Operation = { operationId: string; security?: unknown[]; requestBody?: object }
type Document = { paths: Record<string, Record<string, Operation>> }

const api = await openSharedServer()
const { paths } = (await api.call('GET', '/openapi.json')).json as Document
const operations = Object.entries(paths)
  .filter(([path]) => path.startsWith('/job/api/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ path, method: method.toUpperCase(), id: operation.operationId },
      ...{ hasBody: operation.requestBody !== undefined, isOpen: operation.security?.length === 0 },
    })),
  )
const closed = operations.filter(({ isOpen }) => !isOpen)

// All resources of other jobs contain CANARY or hidden, which must not appear in any response.
const jobs = ['our-*', 'exact']
const scopes = ['TRIGGER', 'READ', 'MANAGE', 'APPROVE', 'AUDIT'] as const
const { apiKey: restricted, keyId } = await api.newKey([...scopes], { jobs })
const { apiKey: unrestricted } = await api.newKey([...scopes], { keyName: 'CANARY' })
await api.putJobAndDevices('our-job', ['d1', 'd2'])
await api.putJobAndDevices('our-other', [])
await api.putJobAndDevices('exact', [])
await api.call('PUT', '/job/api/jobs/hidden-job', {
  body: { description: 'CANARY', document: { x: 'CANARY' } },
})
// Its name stands between those that are shown, so that a cursor could name it.
await api.call('PUT', '/job/api/jobs/ouCANARY', { body: {} })
await api.call('PUT', '/job/api/jobs/exact-not', { body: { description: 'CANARY' } })
const hiddenRun = await api.trigger('hidden-job', ['d1'])
const ownRun = await api.trigger('our-job', ['d1'])
const idOf = ({ headers }: { headers: Headers }) => headers.get('location')?.split('/').at(-1) ?? ''
const schedule = (jobName: string) => ({
  ...{ jobName, targets: { where: 'all' }, when: { cron: '0 3 1 1 *' } },
})
await api.call('PUT', '/job/api/schedules/hidden-schedule', { body: schedule('hidden-job') })
await api.call('PUT', '/job/api/schedules/our-schedule', { body: schedule('our-job') })
await api.call('PUT', '/job/api/secrets/CANARY_SECRET', { body: { value: 'CANARY value' } })
await api.call('PUT', '/job/api/webhooks/hidden-webhook', { body: { url: 'https://hook.invalid/CANARY' } })
await api.call('PUT', '/job/api/webhooks/taken', { body: { url: 'https://hook.invalid/CANARY' } })
await api.call('PUT', '/job/api/groups/our-group', { body: { where: 'all' } })

const ids: Record<string, { hidden: string; unknown: string }> = {
  jobName: { hidden: 'hidden-job', unknown: 'absent-job' },
  version: { hidden: '1', unknown: '1' },
  runId: { hidden: idOf(hiddenRun), unknown: '987654321' },
  jobExecutionId: { hidden: String(hiddenRun.json[0].jobExecutionId), unknown: '987654321' },
  scheduleName: { hidden: 'hidden-schedule', unknown: 'absent-schedule' },
  keyId: { hidden: (await api.newKey(['READ'], { keyName: 'CANARY' })).keyId, unknown: '0123456789' },
  webhookName: { hidden: 'hidden-webhook', unknown: 'absent-webhook' },
  secretName: { hidden: 'CANARY_SECRET', unknown: 'ABSENT_SECRET' },
  deviceId: { hidden: 'd1', unknown: 'd1' },
  groupName: { hidden: 'our-group', unknown: 'our-group' },
  windowName: { hidden: 'w', unknown: 'w' },
  fileName: { hidden: 'f', unknown: 'f' },
  enrollmentId: { hidden: 'e', unknown: 'e' },
  sessionId: { hidden: 's', unknown: 's' },
  eventId: { hidden: '1', unknown: '1' },
}
const newWebhook = { url: 'https://hook.invalid/own', secret: `whsec_${'a'.repeat(32)}` }
const bodies: Record<string, (which: 'hidden' | 'unknown') => object> = {
  triggerJob: (which) => ({ jobName: ids.jobName?.[which], deviceIds: ['d1'] }),
  createRun: (which) => ({ jobName: ids.jobName?.[which], targets: { deviceIds: ['d1'] } }),
  countDevices: () => ({ where: 'all' }),
  createKey: () => ({ keyName: 'made', scopes: ['READ'] }),
  changeRun: () => ({ rollout: {} }),
  putWebhook: () => newWebhook,
  replayWebhook: () => ({ since: '2026-01-01T00:00:00Z' }),
}
const queries: Record<string, (which: 'hidden' | 'unknown') => string> = {
  listRuns: (which) => `?jobName=${ids.jobName?.[which]}`,
  listExecutions: (which) => `?runId=${ids.runId?.[which]}`,
  getStats: (which) => `?jobName=${ids.jobName?.[which]}`,
}

async function ask(
  { path, method, id, hasBody }: (typeof operations)[number],
  which: 'hidden' | 'unknown',
  { key = restricted, accept = 'application/json' } = {},
) {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (id === 'putWebhook' && name === 'webhookName') return which === 'hidden' ? 'taken' : 'free'
    return ids[name]?.[which] ?? `no ${name}`
  })
  const body = bodies[id]?.(which) ?? {}
  const reply = await api.call(method, address + (queries[id]?.(which) ?? ''), {
    ...{ key, headers: { accept } },
    ...(hasBody && { body }),
  })
  let text = reply.text
    .replaceAll(/"requestId":"[^"]+"/g, '<request>')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '<instant>')
  for (const [name, each] of Object.entries(ids))
    if (path.includes(`{${name}}`)) text = text.replaceAll(new RegExp(`\\b${each[which]}\\b`, 'g'), '<id>')
  if (id === 'putWebhook') text = text.replace(/"webhookName":"(?:taken|free)"/, '<id>')
  if (id === 'createRun') text = text.replace(ids.jobName?.[which] ?? '', '<id>')
  return { status: reply.status, code: reply.json?.code, text }
}

/** It does not end; there is a test of its own. */
const neverEnds = 'followEvents'
const notFound: Record<string, string> = {
  ...{ job: 'J-301', run: 'J-304', execution: 'J-302', schedule: 'J-310' },
}

for (const operation of closed.filter(({ id }) => id !== neverEnds)) {
  const { method, path, id } = operation
  const rule = restrictedRuleOf(id)
  for (const accept of ['application/json', 'application/problem+json']) {
    test(`${method} ${path} (${rule ?? 'refused'}) tells nothing of what lies outside (${accept})`, async () => {
      const hidden = await ask(operation, 'hidden', { accept })
      assert.doesNotMatch(hidden.text, /CANARY|hidden/)
      // Without ADMIN, which a key that is restricted to jobs cannot have.
      if (rule === undefined) assert.equal(hidden.code, /Owners?$/.test(id) ? 'J-804' : 'J-814')
      if (path.includes('{webhookName}') && id !== 'putWebhook') assert.equal(hidden.code, 'J-307')
      if (rule !== undefined && rule in notFound) assert.equal(hidden.code, notFound[rule])
      if (id === 'createKey' || id === 'createSignInTicket') return
      assert.deepEqual(hidden, await ask(operation, 'unknown', { accept }))
    })
  }
}

test('every operation that is closed to others has a rule or is refused, and no rule is for nothing', () => {
  // It is not in the OpenAPI document.
  const known = new Set([...closed.map(({ id }) => id), 'callMcp'])
  assert.deepEqual(
    restrictedOperations.filter((id) => !known.has(id)),
    [],
  )
  assert.ok(closed.length > 80)
  for (const name of ['toString', 'newOperation', undefined]) assert.equal(restrictedRuleOf(name), undefined)
})

test('every operation is J-802 from another address, as with a key that does not exist', async () => {
  const { apiKey } = await api.newKey([...scopes, 'ADMIN'], { addresses: ['192.0.2.0/24', '2001:db8::/32'] })
  const absent = `jc_${'0'.repeat(apiKey.length - 3)}`
  for (const operation of closed) {
    const refused = await ask(operation, 'hidden', { key: apiKey })
    assert.deepEqual(refused, await ask(operation, 'hidden', { key: absent }), operation.id)
    assert.equal(refused.text, errorText('J-802'), operation.id)
  }
  const signIn = await fetch(`${api.http}/job/api/session`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ apiKey }) },
  })
  assert.equal(await signIn.text(), errorText('J-802'))
})

test('an expired key is J-802 from another address', async () => {
  const soon = new Date(Date.now() + 50).toISOString()
  const { apiKey } = await api.newKey(['READ'], { addresses: ['192.0.2.1'], expiresAt: soon })
  while (Date.now() < Date.parse(soon)) await new Promise((done) => setTimeout(done, 20))
  assertRefused(await api.call('GET', '/job/api/jobs', { key: apiKey }), 'J-802')
})

test('a key that is restricted to addresses alone sees everything from there', async () => {
  const { apiKey: key } = await api.newKey([...scopes], { addresses: ['127.0.0.0/8'] })
  assert.equal((await api.call('GET', '/job/api/jobs/hidden-job', { key })).status, 200)
  assert.equal((await api.call('GET', '/job/api/stats', { key })).status, 200)
  assert.equal((await api.trigger('hidden-job', ['d2'], { key })).status, 201)
})

test('what lies within can be used', async () => {
  const get = async (path: string) => (await api.call('GET', `/job/api${path}`, { key: restricted })).json
  assert.equal((await api.trigger('exact', ['d2'], { key: restricted })).status, 201)
  assertRefused(await api.trigger('exact-not', ['d2'], { key: restricted }), 'J-301')
  assert.equal((await get('/jobs/our-job')).jobName, 'our-job')
  assert.equal((await get(`/runs/${idOf(ownRun)}`)).jobName, 'our-job')
  assert.equal((await get('/schedules/our-schedule')).jobName, 'our-job')
  assert.equal((await api.call('PUT', '/job/api/jobs/our-new', { key: restricted, body: {} })).status, 201)
  assert.equal((await api.call('DELETE', '/job/api/jobs/our-new', { key: restricted })).status, 204)
  const refused = await api.call('PUT', '/job/api/jobs/new', { key: restricted, body: {} })
  assertRefused(refused, 'J-301')
  assert.deepEqual(
    (await get('/schedules')).items.map((each: { scheduleName: string }) => each.scheduleName),
    ['our-schedule'],
  )
})

test('lists and their cursors name nothing outside', async () => {
  const seen: string[] = []
  let cursor = ''
  do {
    const { json } = await api.call('GET', `/job/api/jobs?limit=1${cursor}`, { key: restricted })
    seen.push(...json.items.map(({ jobName }: { jobName: string }) => jobName))
    assert.doesNotMatch(atob(json.nextCursor ?? ''), /CANARY|hidden/)
    cursor = json.nextCursor ? `&cursor=${json.nextCursor}` : ''
  } while (cursor !== '')
  assert.deepEqual(seen, ['exact', 'our-job', 'our-other'])
  for (const [list, query] of [
    ...['runs', 'executions'].flatMap((list) => [
      ...[
        [list, ''],
        [list, '?execState=PENDING'],
        [list, '?finished=false'],
        [list, '?jobName=our-job'],
      ],
      [list, '?launchedAfter=2020-01-01T00:00:00Z'],
    ]),
    ...[
      ['executions', '?deviceId=d1'],
      ['executions', `?runId=${idOf(ownRun)}`],
      ['keys', ''],
    ],
  ] as [string, string][]) {
    if (list === 'executions' && query === '?finished=false') continue
    const { status, text, json } = await api.call('GET', `/job/api/${list}${query}`, { key: restricted })
    assert.equal(status, 200, text)
    assert.ok(json.items.length > 0, `${list}${query}`)
    assert.doesNotMatch(text, /hidden|CANARY/, `${list}${query}`)
  }
})

test('the fleet and the statistics count executions of the own jobs only', async () => {
  const { apiKey } = await api.newKey(['READ'], { jobs: ['counted*'] })
  await api.putJobAndDevices('counted-1', ['c1', 'c2'])
  await api.putJobAndDevices('uncounted', [])
  await api.trigger('uncounted', ['c1', 'c2'])
  await api.trigger('counted-1', ['c1', 'c2'])
  const get = async (path: string, key = apiKey) => (await api.call('GET', `/job/api/${path}`, { key })).json
  const [fleet, whole] = [await get('fleet'), await get('fleet', unrestricted)]
  assert.deepEqual([fleet.waiting, fleet.running, fleet.oldestWaiting.jobName], [2, 0, 'counted-1'])
  assert.deepEqual([fleet.history.waiting.at(-1), fleet.devices], [2, whole.devices])
  assert.ok(whole.waiting > 4 && whole.oldestWaiting.jobName !== 'counted-1')
  await api.trigger('counted-1', ['c1'])
  await api.trigger('uncounted', ['c1'])
  // Read again, it continues where it has counted.
  assert.deepEqual([(await get('fleet')).waiting, (await get('fleet')).history.waiting.at(-1)], [3, 3])
  const stats = await get('stats')
  assert.deepEqual(
    [stats.overall.total, stats.jobs.map((each: { jobName: string }) => each.jobName)],
    [3, ['counted-1']],
  )
  assert.equal((await get('stats?jobName=uncounted')).overall.total, 0)
  for (const path of ['fleet/devices', 'fleet/groups'])
    assertRefused(await api.call('GET', `/job/api/${path}`, { key: apiKey }), 'J-814')
  const { apiKey: both } = await api.newKey(['READ'], { jobs: ['counted*'], where: 'deviceId=c1' })
  const { devices, waiting, oldestWaiting, history } = await get('fleet', both)
  assert.deepEqual([devices.total, waiting, history.waiting.at(-1)], [1, 2, 2])
  assert.deepEqual([oldestWaiting.jobName, oldestWaiting.deviceId], ['counted-1', 'c1'])
  const { overall, jobs: ofJobs } = await get('stats', both)
  assert.deepEqual(
    [overall.total, ofJobs.map((each: { jobName: string }) => each.jobName)],
    [2, ['counted-1']],
  )
})

test('the stream has no events of what lies outside', async (t) => {
  const listener = await EventListener.open(api.http, restricted, { query: '?after=0' })
  t.after(() => listener.close())
  const { apiKey } = await api.newKey(['READ'], { keyName: 'CANARY event' })
  await api.trigger('hidden-job', ['d2'], { key: unrestricted })
  await api.call('POST', '/job/api/schedules/hidden-schedule/pause')
  const run = await api.trigger('our-other', ['d2'])
  const isLast = ({ data }: { data: object }) => 'runId' in data && String(data.runId) === idOf(run)
  await listener.until(() => listener.events.some(isLast))
  assert.doesNotMatch(JSON.stringify(listener.events), /hidden|CANARY/)
  assert.ok(!JSON.stringify(listener.events).includes(apiKey.slice(3, 13)))
  for (const type of ['key.*', 'secret.changed', 'webhook.*']) {
    const reply = await api.call('GET', `/job/api/events?types=${type}`, { key: restricted })
    assertRefused(reply, 'J-814')
  }
})

test('neither an idempotency key nor a plan of others leads outside', async () => {
  const headers = { 'idempotency-key': 'theirs' }
  assert.equal((await api.trigger('hidden-job', ['d2'], { headers })).status, 201)
  assertRefused(await api.trigger('hidden-job', ['d2'], { headers, key: restricted }), 'J-301')
  const body = { jobName: 'hidden-job', targets: { deviceIds: ['d2'] } }
  const more = { body, headers: { 'idempotency-key': 'their-run' } }
  assert.equal((await api.call('POST', '/job/api/runs', more)).status, 201)
  assertRefused(await api.call('POST', '/job/api/runs', { ...more, key: restricted }), 'J-301')
  assertRefused(await api.call('POST', '/job/api/runs?dryRun=true', { body, key: restricted }), 'J-301')
  const start = async (planId: string) => {
    const { status, text } = await api.call('POST', '/job/api/runs', { key: restricted, body: { planId } })
    return { status, text }
  }
  const absent = await start('0'.repeat(22))
  for (const isStarted of [false, true]) {
    const { planId } = (await api.call('POST', '/job/api/runs?dryRun=true', { body })).json
    if (isStarted) assert.equal((await api.call('POST', '/job/api/runs', { body: { planId } })).status, 201)
    assert.deepEqual(await start(planId), absent)
  }
})

test('an explanation does not name the execution of another job', async () => {
  const device = await newDevice(api, 'd3')
  await device.call('GET', '')
  const launch = async (jobName: string) => (await api.trigger(jobName, ['d3'])).json[0].jobExecutionId
  const [first, second] = [await launch('hidden-job'), await launch('our-job')]
  const explain = async (key: string) => {
    const { json } = await api.call('GET', `/job/api/executions/${second}/explain`, { key })
    return [json.code, json.behind, json.text]
  }
  const text = (which: string) => `Device d3 is online and has to finish ${which} first, which is PENDING.`
  assert.deepEqual(await explain(api.adminKey), ['BEHIND_EXECUTION', first, text(`execution ${first}`)])
  assert.deepEqual(await explain(restricted), ['BEHIND_EXECUTION', null, text('another execution')])
})

test('a session of a restricted key is restricted, also by a ticket', async () => {
  const { ticket } = (await api.call('POST', '/job/api/session/tickets', { key: restricted })).json
  for (const by of [{ apiKey: restricted }, { ticket }]) {
    const signIn = await fetch(`${api.http}/job/api/session`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(by) },
    })
    assert.equal(signIn.status, 201)
    const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const get = (path: string) => fetch(`${api.http}/job/api${path}`, { headers: { cookie } })
    assert.equal(await (await get('/jobs/hidden-job')).text(), errorText('J-301'))
    assert.equal(await (await get('/fleet/devices')).text(), errorText('J-814'))
    assert.equal((await get('/jobs/our-job')).status, 200)
  }
})

test('a key that a restricted key creates is restricted at least as much', async () => {
  const both = await api.newKey(['READ', 'MANAGE'], { jobs, addresses: ['127.0.0.0/8'] })
  const create = (more: object) =>
    api.call('POST', '/job/api/keys', {
      key: both.apiKey,
      body: { keyName: 'child', scopes: ['READ'], ...more },
    })
  const inherited = await create({})
  assert.deepEqual(inherited.json.jobs, jobs)
  assert.deepEqual(inherited.json.addresses, ['127.0.0.0/8'])
  assert.equal((await create({ jobs: ['our-job', 'our-x*'], addresses: ['127.0.0.1'] })).status, 201)
  const wider = [
    ...[{ jobs: ['*'] }, { jobs: ['our*'] }, { jobs: ['exact*'] }, { jobs: ['hidden-job'] }],
    ...[{ addresses: ['127.0.0.0/7'] }, { addresses: ['10.0.0.1'] }, { addresses: ['::/0'] }],
  ]
  for (const more of wider) assert.equal((await create(more)).json.code, 'J-500', JSON.stringify(more))
  assert.equal((await create({ scopes: ['TRIGGER'] })).json.code, 'J-804')
  const { json } = await api.call('GET', '/job/api/keys', { key: both.apiKey })
  assert.deepEqual(
    new Set(json.items.map(({ keyName }: { keyName: string }) => keyName)),
    new Set(['test', 'child']),
  )
  const revoke = (id: string) => api.call('DELETE', `/job/api/keys/${id}`, { key: both.apiKey })
  assertRefused(await revoke(keyId), 'J-805')
  assert.equal((await revoke(inherited.json.keyId)).status, 204)
})

test('meaningless restrictions are refused', async () => {
  const wrong = [
    ...[{ jobs: [] }, { jobs: ['a*b'] }, { jobs: [''] }, { jobs: ['a', 'a'] }, { addresses: [] }],
    ...[{ addresses: ['10.0.0.0/33'] }, { addresses: ['here'] }, { addresses: ['10.0.0'] }],
    ...[{ jobs: Array.from({ length: 65 }, (_, index) => `job-${index}`) }],
    ...[{ jobs: ['a'], scopes: ['ADMIN'] }],
  ]
  for (const more of wrong) {
    const body = { keyName: 'wrong', scopes: ['READ'], ...more }
    assert.equal((await api.call('POST', '/job/api/keys', { body })).json.code, 'J-500', JSON.stringify(more))
  }
})
