// Every operation of the OpenAPI document that changes something has its entry in the audit: who, from where, by which request,
// before and after. An operation that is added to the document has to be called here, or to be listed with a reason.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '@jobcast/contract'
import type { CallOptions } from '@jobcast/testkit/call-api'
import { newDevice } from '@jobcast/testkit/call-device'
import { EventListener } from '@jobcast/testkit/event-listener'
import { openSharedServer } from '@jobcast/testkit/shared-server'

type Operation = { operationId: string; method: string; path: string }
type Names = Record<string, string | number>

const notAudited: Record<string, string> = {
  countDevices: 'reads',
  checkSignInTicket: 'reads',
  exchangeToken: 'needs an issuer: exchange.test.ts reads its entry',
  testWebhook: 'sends a request, and stores nothing',
}
/** The action, with its note, says all of it. */
const hasNoState = [
  ...[
    'delivery.replayed',
    'device.certificate_allowed',
    'device.credential_revoked',
    'device.credential_set',
  ],
  ...['run.canceled', 'schedule.fired', 'session.signed_out', 'ticket.created', 'webhook.updated'],
]
const secret = 'hunter2-hunter2'

const api = await openSharedServer()
const operations = await readOperations()
const { apiKey: approver } = await api.newKey(['APPROVE'])
/** The actions of each call, by its request id. */
const expected = new Map<string, string[]>()

async function readOperations(): Promise<Operation[]> {
  const { paths } = (await api.call('GET', '/openapi.json')).json
  return Object.entries<Record<string, { operationId: string }>>(paths)
    .filter(([path]) => !path.startsWith('/things/')) // devices: their events and history have what they do
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'get')
        .map(([method, { operationId }]) => ({ operationId, method: method.toUpperCase(), path })),
    )
}

/** Calls the operation; `actions` are those of the entries that it must write. */
async function call(operationId: string, actions: string[], names: Names = {}, options: CallOptions = {}) {
  const operation = operations.find((each) => each.operationId === operationId)
  assert.ok(operation, `the document has no ${operationId}`)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => String(names[name]))
  const requestId = `${operationId}-${expected.size}`
  expected.set(requestId, actions)
  const headers = { ...options.headers, 'x-request-id': requestId }
  const reply = await api.call(operation.method, path + (names.query ?? ''), { ...options, headers })
  assert.ok(reply.status < 300, `${operationId}: ${reply.text}`)
  return reply
}

async function changeResources(): Promise<void> {
  const job = { jobName: 'audited' }
  for (const a of [1, 2]) await call('putJob', ['job.changed'], job, { body: { document: { a } } })
  await call('putJob', [], job, { body: { document: { a: 2 } } })
  await call('restoreJobVersion', ['job.changed'], { ...job, version: 1 })
  const device = { deviceId: 'audited-2' }
  await call('putDevice', ['device.created'], device, { body: { tags: ['x'] } })
  await call('patchDevice', ['device.updated'], device, { body: { tags: ['y'] } })
  await call('changeDevices', ['device.updated'], {}, { body: { where: 'tag = y', addTags: ['z'] } })
  const change = { where: 'tag = y', addTags: ['w'] }
  await call('changeDevices', [], { query: '?dryRun=true' }, { body: change })
  const rawBody = '{"deviceId":"audited-3"}\n{"deviceId":"audited-4"}\n'
  const headers = { 'content-type': 'application/x-ndjson' }
  await call('importDevices', ['device.created', 'device.created'], {}, { rawBody, headers })
  await call('createDeviceCredential', ['device.credential_set'], device)
  await call('revokeDeviceCredential', ['device.credential_revoked'], device)
  await call('allowDeviceCertificate', ['device.certificate_allowed'], device)
  await call('putGroup', ['group.changed'], { groupName: 'g' }, { body: { where: 'tag = x' } })
  const window = { cron: '0 3 * * *', durationMinutes: 60 }
  await call('putWindow', ['window.changed'], { windowName: 'w' }, { body: window })
  await call('putSecret', ['secret.changed'], { secretName: 'S' }, { body: { value: secret } })
  const file = { fileName: 'f', version: '1' }
  await call('putFileVersion', ['file.created'], file, { rawBody: 'content' })
  await call('putFileVersion', [], file, { rawBody: 'content' })
  await call('deleteFileVersion', ['file.deleted'], file)
  await call('deleteSecret', ['secret.deleted'], { secretName: 'S' })
  await call('deleteWindow', ['window.deleted'], { windowName: 'w' })
  await call('deleteGroup', ['group.deleted'], { groupName: 'g' })
  await call('deleteDevice', ['device.deleted'], device)
}

async function changeWebhooks(): Promise<void> {
  const webhook = { webhookName: 'hook' }
  const body = { url: `https://hook.invalid/?token=${secret}` }
  await call('putWebhook', ['webhook.created'], webhook, { body })
  await call('changeWebhookSecret', ['webhook.updated'], webhook)
  await call('pauseWebhook', ['webhook.updated'], webhook)
  const listener = await EventListener.open(api.http, api.adminKey, { query: '?after=0' })
  const find = () => listener.events.find(({ type }) => type === 'device.created')
  await listener.until(() => find() !== undefined)
  listener.close()
  const { eventId = 0 } = find() ?? {}
  await call('replayDelivery', ['delivery.replayed'], { ...webhook, eventId })
  const since = new Date(Date.now() - 3_600_000).toISOString()
  await call('replayWebhook', ['webhook.updated'], webhook, { body: { since } })
  await call('resumeWebhook', ['webhook.updated'], webhook)
  await call('deleteWebhook', ['webhook.deleted'], webhook)
}

async function changeRuns(): Promise<void> {
  const targets = { deviceIds: ['audited-1', 'audited-3'] }
  const launch = async (more: object) => {
    const body = { jobName: 'audited', targets, ...more }
    const { json } = await call('createRun', ['run.created'], {}, { body })
    return { runId: json.runId as number }
  }
  const planned = { body: { jobName: 'audited', targets } }
  const { planId } = (await call('createRun', [], { query: '?dryRun=true' }, planned)).json
  await call('createRun', ['run.created'], {}, { body: { planId } })
  const { json } = await call('triggerJob', ['run.created'], {}, { body: { jobName: 'audited', ...targets } })
  const { jobExecutionId } = json[0]
  await call('cancelExecution', ['execution.canceled'], { jobExecutionId })
  // The last wave is never released, however long the calls take.
  const rollout = { waves: [{ size: 1 }, { size: 1 }, { size: '100%' }] }
  const rolling = await launch({
    rollout,
    targets: { deviceIds: ['audited-1', 'audited-3', 'audited-waits'] },
  })
  await call('pauseRun', ['run.paused'], rolling)
  await call('resumeRun', ['run.resumed'], rolling)
  await call('changeRun', ['run.changed'], rolling, { body: { rollout: { ratePerMinute: 60 } } })
  await call('advanceRun', ['run.resumed'], rolling)
  await call('rollBackRun', ['run.aborted', 'run.canceled', 'run.created'], rolling)
  const waiting = await launch({ startAt: new Date(Date.now() + 3_600_000).toISOString() })
  await call('cancelRun', ['run.aborted', 'run.canceled'], waiting)
  await call('retryRun', ['run.created'], waiting)
  const asOther = { key: approver }
  await call('approveRun', ['run.approved'], await launch({ approval: true }), asOther)
  await call('denyRun', ['run.denied'], await launch({ approval: true }), asOther)
  await call('freezeFleet', ['fleet.frozen'], {}, { body: { reason: 'audit' } })
  await call('unfreezeFleet', ['fleet.unfrozen'])
  const schedule = { scheduleName: 's' }
  const body = { jobName: 'audited', targets, when: { cron: '0 3 * * *' } }
  await call('putSchedule', ['schedule.changed'], schedule, { body })
  await call('pauseSchedule', ['schedule.paused'], schedule)
  await call('resumeSchedule', ['schedule.resumed'], schedule)
  await call('fireSchedule', ['schedule.fired'], schedule)
  await call('deleteSchedule', ['schedule.deleted'], schedule)
  await call('deleteJob', ['job.deleted'], { jobName: 'audited', query: '?force=true' })
}

async function changeAccess(): Promise<void> {
  const { enrollmentId } = (await call('createEnrollment', ['enrollment.created'], {}, { body: {} })).json
  await call('revokeEnrollment', ['enrollment.revoked'], { enrollmentId })
  const key = { body: { keyName: 'k', scopes: ['READ'] } }
  const { keyId } = (await call('createKey', ['key.created'], {}, key)).json
  await call('revokeKey', ['key.revoked'], { keyId })
  await call('createOwner', ['owner.created'], {}, { body: { ownerName: 'audited' } })
  const { ticket } = (await call('createSignInTicket', ['ticket.created'])).json
  await call('signIn', ['session.signed_in'], {}, { body: { ticket } })
  const [{ sessionId }] = (await api.call('GET', '/job/api/sessions')).json.items
  await call('endSession', ['session.signed_out'], { sessionId })
  const signedIn = await call('signIn', ['session.signed_in'], {}, { body: { apiKey: api.adminKey } })
  const cookie = signedIn.headers.getSetCookie().map((each) => each.split(';')[0])
  await call('signOut', ['session.signed_out'], {}, { headers: { cookie: cookie.join('; ') } })
}

async function readAudit(): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let cursor = ''; ; ) {
    const { json } = await api.call('GET', `/job/api/audit?limit=200${cursor}`)
    entries.unshift(...json.items.toReversed())
    if (!json.nextCursor) return entries
    cursor = `&cursor=${json.nextCursor}`
  }
}

test('every call that changes something has its entries, and one that changes nothing has none', async () => {
  await newDevice(api, 'audited-1')
  await newDevice(api, 'audited-waits')
  await changeResources()
  await changeWebhooks()
  await changeRuns()
  await changeAccess()
  const entries = await readAudit()
  const found = Map.groupBy(entries, ({ requestId }) => requestId ?? '')
  const written = [...expected.keys()].map((id) => [id, (found.get(id) ?? []).map(({ action }) => action)])
  assert.deepEqual(Object.fromEntries(written), Object.fromEntries(expected))
  const mine = entries.filter(({ requestId }) => expected.has(requestId ?? ''))
  for (const { principal, name, address, requestId } of mine) {
    assert.match(principal, /^key:/, `${requestId}`)
    assert.ok(name, `${requestId}: no name`)
    assert.match(address ?? '', /^(?:127\.0\.0\.1|::ffff:127\.0\.0\.1|::1)$/, `${requestId}`)
  }
  const bare = mine.filter(({ before, after }) => before === null && after === null)
  assert.deepEqual([...new Set(bare.map(({ action }) => action))].toSorted(), hasNoState)
  assert.ok(!JSON.stringify(entries).includes(secret), 'a secret is shown')
})

test('every operation of the document that may change something was called, or is listed with a reason', () => {
  const called = new Set([...expected.keys()].map((requestId) => requestId.split('-')[0]))
  const missing = operations.filter(
    ({ operationId }) => !called.has(operationId) && !(operationId in notAudited),
  )
  assert.deepEqual(missing, [])
})

test('an entry of a change shows the resource before and after it', async () => {
  const { before, after } = (await readAudit()).find(({ requestId }) => requestId === 'putJob-1') ?? {}
  const documentOf = (state: unknown) => (state as { document: unknown }).document
  assert.deepEqual([documentOf(before), documentOf(after)], [{ a: 1 }, { a: 2 }])
})
