// Owners cannot see each other. The matrix comes from the OpenAPI document: every operation, with each id it
// takes once another owner's and once unknown. Both answers must be the same, but for the id that was asked for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'

type Schema = { $ref?: string; properties?: Record<string, Schema> }
type Operation = {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query' | 'header' }[]
  requestBody?: { content: { 'application/json'?: { schema: Schema } } }
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const api = await openSharedServer()
const document = (await api.call('GET', '/openapi.json')).json as Document

// All resources of the other owner contain CANARY, which must not appear in any response.
/** Its key sees all that its owner may see. */
async function newAudited(ownerName: string) {
  const { ownerId } = await api.newOwner(ownerName)
  const { apiKey: key } = await api.newKey(['TRIGGER', 'READ', 'MANAGE', 'AUDIT'], { ownerId })
  return { ownerId, key }
}

const other = await newAudited('CANARY owner')
const job = { description: 'CANARY', document: { text: 'CANARY' } }
await api.call('PUT', '/job/api/jobs/their-job', { key: other.key, body: job })
const device = { deviceName: 'CANARY', tags: ['CANARY-tag', 'their-tag'] }
await api.call('PUT', '/job/api/devices/their-device', { key: other.key, body: device })
const run = await api.trigger('their-job', ['their-device'], { key: other.key })
const enrollment = { name: 'CANARY', tags: ['CANARY-tag'], deviceIdPrefix: 'their-' }
const theirEnrollment = await api.call('POST', '/job/api/enrollments', { key: other.key, body: enrollment })
const theirKey = await api.newKey(['READ'], { ownerId: other.ownerId, keyName: 'CANARY' })

const signedIn = await fetch(`${api.http}/job/api/session`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', origin: api.http, 'user-agent': 'CANARY' },
  body: JSON.stringify({ apiKey: other.key }),
})
const theirSession = /js_(\w{10})/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
assert.equal(signedIn.status, 201)

const webhook = { url: 'https://hook.invalid/CANARY', jobName: 'CANARY' }
await api.call('PUT', '/job/api/webhooks/their-webhook', { key: other.key, body: webhook })
await api.call('PUT', '/job/api/groups/their-group', { key: other.key, body: { where: 'tag=CANARY' } })
const schedule = {
  jobName: 'their-job',
  targets: { where: 'tag=CANARY' },
  when: { cron: '0 3 1 1 *' },
  description: 'CANARY',
}
await api.call('PUT', '/job/api/schedules/their-schedule', { key: other.key, body: schedule })
await api.call('PUT', '/job/api/secrets/THEIR_SECRET', { key: other.key, body: { value: 'CANARY value' } })
await api.call('PUT', '/job/api/files/their-file/1', { key: other.key, rawBody: 'CANARY content' })
await api.call('PUT', '/job/api/windows/their-window', {
  key: other.key,
  body: { cron: '0 2 * * *', durationMinutes: 60 },
})

const own = await newAudited('own')
await api.putJobAndDevices('our-job', ['our-device'], own.key)
await api.trigger('our-job', ['our-device'], { key: own.key })

const ids: Record<string, { foreign: string; unknown: string }> = {
  jobName: { foreign: 'their-job', unknown: 'any-job' },
  deviceId: { foreign: 'their-device', unknown: 'any-device' },
  deviceIds: { foreign: 'their-device', unknown: 'any-device' },
  tag: { foreign: 'their-tag', unknown: 'any-tag' },
  jobExecutionId: { foreign: String(run.json[0].jobExecutionId), unknown: '987654321' },
  runId: { foreign: run.headers.get('location')?.split('/').at(-1) ?? '', unknown: '987654321' },
  keyId: { foreign: theirKey.keyId, unknown: '0123456789' },
  webhookName: { foreign: 'their-webhook', unknown: 'any-webhook' },
  enrollmentId: { foreign: theirEnrollment.json.enrollmentId, unknown: '0123456789' },
  sessionId: { foreign: theirSession, unknown: '0123456789' },
  groupName: { foreign: 'their-group', unknown: 'any-group' },
  secretName: { foreign: 'THEIR_SECRET', unknown: 'ANY_SECRET' },
  fileName: { foreign: 'their-file', unknown: 'any-file' },
  windowName: { foreign: 'their-window', unknown: 'any-window' },
  window: { foreign: 'their-window', unknown: 'any-window' },
  where: { foreign: 'tag=their-tag', unknown: 'tag=any-tag' },
  scheduleName: { foreign: 'their-schedule', unknown: 'any-schedule' },
  principal: { foreign: `key:${theirKey.keyId}`, unknown: 'key:0123456789' },
  subject: { foreign: 'job:their-job', unknown: 'job:any-job' },
  ownerId: { foreign: other.ownerId, unknown: 'ow_0123456789ab' },
}
/** What is no id. A new parameter must be put into one of the two lists. */
const noIds = new Set(
  'limit cursor wait execState launchedAfter launchedBefore force idempotency-key deviceName tags keyName scopes expiresAt'
    .concat(' ownerName description document expireAfterSeconds timeoutSeconds deadlineSeconds retry')
    .concat(
      ' rollout approval comment digest reason until version parameters onMissing toVersion signatures startAt',
    )
    .concat(' when overlap catchUpSeconds jitterSeconds pauseAfterFailures count')
    .concat(' cron durationMinutes cutoffMinutes except ignoreWindows')
    .concat(
      ' finishedAfter finishedBefore buckets rolloutState traceparent if-match if-none-match dryRun targets note planId attributes timeZone',
    )
    .concat(
      ' merge by addTags removeTags again priority replaces value content-digest repr-digest content-range',
    )
    .concat(' url eventTypes secret state since eventId types after before action last-event-id')
    .concat(
      ' finished apiKey ticket jobs addresses format online offset attempt follow download name maxUses expiresInSeconds deviceIdPrefix descendants',
    )
    .split(' '),
)
/** Parameters of paths that stand beside an id: the other owner has each of them. */
const beside: Record<string, string> = { version: '1', eventId: '1' }
const bodies: Record<string, Record<string, unknown>> = {
  triggerJob: { jobName: 'our-job', deviceIds: ['our-device'] },
  createRun: { jobName: 'our-job', targets: { deviceIds: ['our-device'] } },
  countDevices: { where: 'all' },
  changeDevices: { where: 'all', addTags: ['ours'] },
  putGroup: { where: 'all' },
  putSchedule: { jobName: 'our-job', targets: { where: 'all' }, when: { cron: '0 3 1 1 *' } },
  putWindow: { cron: '0 2 * * *', durationMinutes: 60 },
  createKey: { keyName: 'ours' },
  createOwner: { ownerName: 'ours' },
  putWebhook: { url: 'https://hook.invalid/' },
  changeRun: { rollout: {} },
  freezeFleet: { reason: 'ours' },
  replayWebhook: { since: '2026-11-15T09:30:00Z' },
}

type Row = {
  method: string
  path: string
  operation: Operation
  place: 'path' | 'query' | 'body'
  name: string
}

function rowsOf(path: string, method: string, operation: Operation): Row[] {
  const schema = operation.requestBody?.content['application/json']?.schema
  const named = schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema
  const places = [
    ...(operation.parameters ?? []).map((parameter) => ({ name: parameter.name, place: parameter.in })),
    ...Object.keys(named?.properties ?? {}).map((name) => ({ name, place: 'body' as const })),
  ]
  for (const { name } of places) assert.ok(noIds.has(name) || name in ids, `is ${name} an id?`)
  return places
    .filter(({ name }) => name in ids)
    .map(({ name, place }) => ({ method, path, operation, place: place as Row['place'], name }))
}

/** events.test.ts listens to it. */
const neverEnds = '/job/api/events'

// What replaces comes last: it makes the foreign id one of ours.
const rows = Object.entries(document.paths)
  .filter(([path]) => path.startsWith('/job/api/') && path !== neverEnds)
  .flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => rowsOf(path, method.toUpperCase(), operation)),
  )
  .sort((a, b) => Number(a.method === 'PUT') - Number(b.method === 'PUT'))

async function ask({ method, path, operation, place, name }: Row, id: string, accept: string) {
  let address = path
  for (const [param, value] of Object.entries(beside)) address = address.replace(`{${param}}`, value)
  for (const [param, { unknown }] of Object.entries(ids)) {
    address = address.replace(`{${param}}`, place === 'path' && param === name ? id : unknown)
  }
  assert.doesNotMatch(address, /[{}]/, 'a parameter of the path has no value')
  if (place === 'query') address += `?${name}=${id}`
  const usual = bodies[operation.operationId] ?? {}
  const body = place === 'body' ? { ...usual, [name]: Array.isArray(usual[name]) ? [id] : id } : usual
  const hasBody = operation.requestBody !== undefined
  const reply = await api.call(method, address, {
    key: own.key,
    headers: { accept },
    ...(hasBody && { body }),
  })
  const text = reply.text
    .replaceAll(id, '<id>')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '<instant>')
    .replaceAll(/"whsec_[^"]+"/g, '<secret>')
    .replaceAll(/"requestId":"[^"]+"/g, '<request>')
    .replaceAll(reply.status === 201 ? /"(keyId|apiKey)":"[^"]+"/g : /(?!)/g, '<new key>')
  return { status: reply.status, text }
}

// Lists within something have its name in the path, and stand in the matrix.
const lists = Object.keys(document.paths).filter(
  (path) => document.paths[path]?.get?.operationId.startsWith('list') && !path.includes('{'),
)
// Bridges come from the settings: server/test/gateway/bridge/list-bridges.test.ts.
const notOfOwners = ['/job/api/owners', '/job/api/bridges']
for (const path of lists.filter((list) => !notOfOwners.includes(list))) {
  test(`GET ${path} shows nothing of another owner, also not with its cursor`, async () => {
    const theirs = await api.call('GET', `${path}?limit=1`, { key: other.key })
    assert.ok(theirs.json.items.length > 0)
    const cursors = [theirs.json.nextCursor, ...['""', '0', '987654321'].map((text) => btoa(text))]
    for (const cursor of cursors.filter(Boolean)) {
      const reply = await api.call('GET', `${path}?cursor=${cursor.replaceAll('=', '')}`, { key: own.key })
      assert.doesNotMatch(reply.text, /CANARY|their-/)
    }
    assert.doesNotMatch((await api.call('GET', path, { key: own.key })).text, /CANARY|their-/)
  })
}

const targets = [
  [{ deviceIds: ['their-device'] }, { deviceIds: ['any-device'] }],
  [{ where: 'deviceId=their-device' }, { where: 'deviceId=any-device' }],
  [{ group: 'their-group' }, { group: 'any-group' }],
  [{ where: 'group=their-group' }, { where: 'group=any-group' }],
]
for (const [theirs, unknown] of targets) {
  test(`a run on ${JSON.stringify(theirs)} of another owner is refused as if unknown`, async () => {
    const run = async (targets: unknown) => {
      const body = { jobName: 'our-job', targets }
      const { status, text } = await api.call('POST', '/job/api/runs', { key: own.key, body })
      return { status, text: text.replaceAll(/their|any/g, '<id>') }
    }
    assert.deepEqual(await run(theirs), await run(unknown))
  })
}

for (const row of rows) {
  const { method, path, place, name } = row
  for (const accept of ['application/json', 'application/problem+json']) {
    test(`${method} ${path} with another owner's ${name} in the ${place} is as if unknown (${accept})`, async () => {
      const { foreign, unknown } = ids[name] as { foreign: string; unknown: string }
      const asked = await ask(row, foreign, accept)
      assert.deepEqual(asked, await ask(row, unknown, accept))
      assert.doesNotMatch(asked.text, /CANARY/)
    })
  }
}

test('the matrix is not empty: it has every operation that takes an id', () => {
  assert.ok(rows.length >= 20)
})

test('the resources of the other owner are unchanged', async () => {
  const read = async (path: string) => (await api.call('GET', path, { key: other.key })).json
  assert.deepEqual((await read('/job/api/jobs/their-job')).document, job.document)
  assert.equal((await read('/job/api/devices/their-device')).deviceName, 'CANARY')
  assert.equal((await read('/job/api/devices/their-device')).credentialCreatedAt, null)
  assert.equal((await read(`/job/api/executions/${ids.jobExecutionId?.foreign}`)).execState, 'PENDING')
  assert.equal((await read('/job/api/executions')).items.length, 1)
  assert.equal((await api.call('GET', '/job/api/jobs', { key: theirKey.apiKey })).status, 200)
  assert.equal((await read('/job/api/enrollments')).items[0].revokedAt, null)
  assert.equal((await read('/job/api/sessions')).items[0].sessionId, theirSession)
})
