// GET /job/api/events as seen by listeners.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobcastEvent, Scope } from '@jobcast/contract'
import { EventListener, type ListenOptions } from '@jobcast/testkit/event-listener'
import { type OpenServer, openServer } from '@jobcast/testkit/open-server'

const typesOf = (events: JobcastEvent[]) => events.map(({ type }) => type)

async function openListening(t: Parameters<typeof openServer>[0], deviceIds = ['a', 'b']) {
  const api = await openServer(t)
  await api.putJobAndDevices('restart', deviceIds)
  const listen = async (options?: ListenOptions) => {
    // The audit is sealed once a second, however far the test is by then.
    const without = ['audit.sealed']
    const listener = await EventListener.open(api.http, api.adminKey, { without, ...options })
    t.after(() => listener.close())
    return listener
  }
  return { api, listen }
}

async function cancel(api: OpenServer, jobExecutionId: number): Promise<void> {
  const { status } = await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`)
  assert.equal(status, 200)
}

test('sends new events in order, in the format of the contract', async (t) => {
  const { api, listen } = await openListening(t)
  const listener = await listen()
  assert.equal(listener.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(listener.response.headers.get('cache-control'), 'no-store')
  assert.equal(listener.events.length, 0)
  const [{ jobExecutionId }] = (await api.trigger('restart', ['a'])).json
  await cancel(api, jobExecutionId)
  await listener.until(() => listener.events.length === 3)
  const [created, canceled, finished] = listener.events as [JobcastEvent, JobcastEvent, JobcastEvent]
  assert.deepEqual(typesOf(listener.events), ['run.created', 'execution.canceled', 'run.finished'])
  const { runId } = created.data as { runId: number }
  assert.deepEqual(created.data, { runId, jobName: 'restart', total: 1, retryOf: null })
  assert.match(created.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const keyId = (await api.call('GET', '/job/api/keys/self')).json.keyId
  assert.deepEqual(canceled.data, {
    jobExecutionId,
    runId,
    jobName: 'restart',
    deviceId: 'a',
    from: 'PENDING',
    execState: 'CANCELED',
    attempt: 1,
    versionNumber: 2,
    cause: 'cancel',
    actor: `key ${keyId}`,
    statusDetails: {},
  })
  assert.equal((finished.data as { counts: { CANCELED: number } }).counts.CANCELED, 1)
})

test('a reconnecting client gets exactly the missed events, by header or by query', async (t) => {
  const { api, listen } = await openListening(t)
  const first = await listen()
  await api.trigger('restart', ['a'])
  await first.until(() => first.events.length === 1)
  first.close()
  await first.ended
  await api.trigger('restart', ['b'])
  const last = first.events[0]?.eventId as number
  const byHeader = await listen({ lastEventId: last, query: '?after=0' })
  await byHeader.until(() => byHeader.events.length === 1)
  const byQuery = await listen({ query: `?after=${last}` })
  await byQuery.until(() => byQuery.events.length === 1)
  assert.deepEqual(byHeader.events, byQuery.events)
  const whole = await listen({ query: '?after=0' })
  await whole.until(() => whole.events.length === 5)
  const types = typesOf(whole.events)
  assert.deepEqual(types.slice(0, 3).sort(), ['device.created', 'device.created', 'job.changed'])
  assert.deepEqual(types.slice(3), ['run.created', 'run.created'])
  // As an EventSource does that has not seen any.
  const empty = await listen({ lastEventId: '' })
  assert.deepEqual(empty.events, [])
})

test('filters by types, run, job and device', async (t) => {
  const { api, listen } = await openListening(t)
  await api.putJobAndDevices('update', [])
  const [{ jobExecutionId }] = (await api.trigger('restart', ['a'])).json
  await api.trigger('update', ['b'])
  await cancel(api, jobExecutionId)
  const read = async (query: string) => {
    const listener = await listen({ query: `?after=0&${query}` })
    const end = await api.call('GET', '/job/api/runs')
    assert.equal(end.status, 200)
    await listener.until(() => Number(listener.lastId) > 0)
    listener.close()
    await listener.ended
    return typesOf(listener.events)
  }
  const one = ['run.created', 'execution.canceled', 'run.finished']
  assert.deepEqual(await read('runId=1'), one)
  assert.deepEqual(await read('jobName=restart'), ['job.changed', ...one])
  assert.deepEqual(await read('types=execution.*,run.finished'), ['execution.canceled', 'run.finished'])
  assert.deepEqual(await read('deviceId=b'), ['device.created', 'run.created'])
  assert.deepEqual(await read('deviceId=b&types=device.*'), ['device.created'])
})

test('an unknown or purged position is refused; invalid queries are J-500', async (t) => {
  const clock = { now: Date.now() }
  const api = await openServer(t, { now: () => clock.now })
  const status = async (query: string, headers = {}) => {
    const { status, json } = await api.call('GET', `/job/api/events${query}`, { headers })
    return [status, json.code]
  }
  assert.deepEqual(await status('?after=1000'), [410, 'J-306'])
  assert.deepEqual(await status('', { 'last-event-id': '1000' }), [410, 'J-306'])
  for (const query of ['?after=-1', '?after=x', '?types=what', '?types=', '?runId=0', '?limit=3']) {
    assert.deepEqual(await status(query), [400, 'J-500'], query)
  }
  assert.deepEqual(await status('', { 'last-event-id': 'abc' }), [400, 'J-500'])
  const { apiKey } = await api.newKey(['TRIGGER', 'MANAGE'])
  const refused = await api.call('GET', '/job/api/events', { key: apiKey })
  assert.deepEqual([refused.status, refused.json.code], [403, 'J-804'])
})

test('events of other owners are not sent', async (t) => {
  const { api, listen } = await openListening(t)
  const { key } = await api.newOwner('other')
  const theirs = await listen({ key, query: '?after=0&types=device.*,run.*,execution.*' })
  await api.trigger('restart', ['a'])
  await api.putJobAndDevices('restart', ['z'], key)
  await theirs.until(() => theirs.events.length === 1)
  assert.deepEqual(theirs.events[0]?.data, { deviceId: 'z', deviceName: 'z', tags: [] })
})

test('events about access are for MANAGE and ADMIN; those about owners for ADMIN', async (t) => {
  const { api, listen } = await openListening(t)
  const keyWith = async (...scopes: Scope[]) => (await api.newKey(scopes)).apiKey
  const [reader, manager] = [await keyWith('READ'), await keyWith('READ', 'MANAGE')]
  const { keyId } = (await api.call('GET', '/job/api/keys/self')).json
  const listeners = await Promise.all([reader, manager, api.adminKey].map((key) => listen({ key })))
  const [readerSees, managerSees, adminSees] = listeners as [EventListener, EventListener, EventListener]
  const { json: owner } = await api.call('POST', '/job/api/owners', { body: { ownerName: 'new' } })
  const made = await api.newKey(['READ'])
  await api.call('DELETE', `/job/api/keys/${made.keyId}`)
  await api.trigger('restart', ['a'])
  const last = (listener: EventListener) => listener.events.at(-1)?.type === 'run.created'
  for (const listener of listeners) await listener.until(() => last(listener))
  assert.deepEqual(typesOf(readerSees.events), ['run.created'])
  assert.deepEqual(typesOf(managerSees.events), ['key.created', 'key.revoked', 'run.created'])
  assert.deepEqual(typesOf(adminSees.events), ['owner.created', 'key.created', 'key.revoked', 'run.created'])
  const principal = `key:${keyId}`
  const data = { keyId: made.keyId, keyName: 'test', scopes: ['READ'], expiresAt: null, principal }
  assert.deepEqual(
    adminSees.events.slice(0, 2).map((event) => event.data),
    [{ ownerId: owner.ownerId, ownerName: 'new', principal }, data],
  )
  const refusal = async (key: string, types: string) =>
    (await api.call('GET', `/job/api/events?types=${types}`, { key })).json.message
  const lacks = 'API key does not have the required permission'
  assert.equal(await refusal(reader, 'run.*,key.created'), `${lacks}: MANAGE`)
  assert.equal(await refusal(reader, 'session.*'), `${lacks}: MANAGE`)
  assert.equal(await refusal(manager, 'owner.*'), `${lacks}: ADMIN`)
  const webhook = { url: 'https://hook.invalid/', eventTypes: ['owner.created'] }
  const put = await api.call('PUT', '/job/api/webhooks/w', { key: manager, body: webhook })
  assert.equal(put.json.message, `${lacks}: ADMIN`)
})

test('a revoked key gets no more events', async (t) => {
  const { api, listen } = await openListening(t)
  const { apiKey, keyId } = await api.newKey(['READ'])
  const listener = await listen({ key: apiKey })
  await api.call('DELETE', `/job/api/keys/${keyId}`)
  await api.trigger('restart', ['a'])
  await listener.ended
})

test('the stream ends when the service stops', async (t) => {
  const { api, listen } = await openListening(t)
  const listener = await listen()
  await api.server.stop()
  await listener.ended
})

test('since begins with events from that instant on; an id takes precedence', async (t) => {
  let at = Date.parse('2026-11-15T09:00:00Z')
  const api = await openServer(t, { now: () => at })
  await api.putJobAndDevices('restart', ['a'])
  at += 60_000
  const { runId } = await triggered(api)
  const listen = async (query: string) => {
    const listener = await EventListener.open(api.http, api.adminKey, { query: `?${query}` })
    t.after(() => listener.close())
    await listener.until(() => listener.events.length > 0)
    return listener.events[0] as JobcastEvent
  }
  const first = await listen('since=2026-11-15T09:00:30Z')
  assert.deepEqual(
    [first.type, first.data],
    ['run.created', { runId, jobName: 'restart', total: 1, retryOf: null }],
  )
  assert.notEqual((await listen('since=2026-11-15T09:00:30Z&after=0')).type, 'run.created')
})

async function triggered(api: OpenServer): Promise<{ runId: number }> {
  const { headers } = await api.trigger('restart', ['a'])
  return { runId: Number(headers.get('location')?.split('/').at(-1)) }
}
