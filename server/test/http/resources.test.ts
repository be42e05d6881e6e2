// The rules of all resources according to their descriptions: get, list, put and delete, and their errors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ContentOf,
  errorCatalogue,
  type JobcastEvent,
  type Resource,
  type ResourceName,
  resources,
  type Scope,
} from '@jobcast/contract'
import { EventListener } from '@jobcast/testkit/event-listener'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { noQuotas, quotaNames } from '../../src/domain/access/quotas.ts'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer({ webhookAllow: ['127.0.0.1'], quotas: noQuotas })
await api.putJobAndDevices('used', ['used'])

type Samples = {
  [Name in ResourceName]: {
    content: ContentOf<(typeof resources)[Name]>
    other: ContentOf<(typeof resources)[Name]>
    /** Refused by the schema. */
    bad: object
  }
}
const schedule = { jobName: 'used', targets: { deviceIds: ['used'] }, when: { cron: '0 3 * * *' } }
const window = { cron: '0 2 * * *', durationMinutes: 60 }
const samples: Samples = {
  webhooks: {
    content: { url: 'http://127.0.0.1:9/one' },
    other: { url: 'http://127.0.0.1:9/other' },
    bad: { url: 'not a url' },
  },
  jobs: { content: { description: 'one' }, other: { description: 'other' }, bad: { timeoutSeconds: 0 } },
  devices: { content: { deviceName: 'one' }, other: { deviceName: 'other' }, bad: { tags: 'kiosk' } },
  groups: { content: { where: 'all' }, other: { where: 'tag=kiosk' }, bad: { where: '' } },
  schedules: { content: schedule, other: { ...schedule, jitterSeconds: 5 }, bad: { ...schedule, when: {} } },
  secrets: { content: { value: 'first value' }, other: { value: 'other value' }, bad: { value: 7 } },
  windows: {
    content: window,
    other: { ...window, cutoffMinutes: 5 },
    bad: { ...window, durationMinutes: 0 },
  },
}
const ifNew = { 'if-none-match': '*' }

for (const resource of Object.values(resources) as Resource[]) {
  const { name, noun, key, notFound, scopes, events } = resource
  const { content, other, bad } = samples[name as ResourceName]
  const at = (id: string) => `/job/api/${name}/${id}`
  const put = (id: string, body: object, headers = {}) => api.call('PUT', at(id), { body, headers })

  test(`${name}: is created with 201, replaced with 200, and shown as it was put`, async () => {
    const created = await put('first', content)
    assert.equal(created.status, 201, created.text)
    assert.equal(created.json[key], 'first')
    const replaced = await put('first', other)
    assert.equal(replaced.status, 200, replaced.text)
    const { status, json } = await api.call('GET', at('first'))
    assert.equal(status, 200)
    const [field, value] = Object.entries(other).at(-1) as [string, unknown]
    assert.deepEqual(json[field], field === resource.neverShown ? undefined : value)
    assert.deepEqual(Object.keys(json), Object.keys(resource.view.properties))
    assert.equal((await api.call('DELETE', at('first'))).status, 204)
    assert.equal((await api.call('GET', at('first'))).status, 404)
  })

  test(`${name}: what is not there is refused with ${notFound}`, async () => {
    assertRefused(await api.call('GET', at('nothing')), notFound)
    assertRefused(await api.call('DELETE', at('nothing')), notFound)
  })

  test(`${name}: content, names and queries that the schemas refuse are J-500, and nothing is written`, async () => {
    const calls = [
      put('refused', bad),
      put('refused', { ...content, unknown: 1 }),
      put('refused', content, { 'if-none-match': '"tag"' }),
      put('%00', content),
      api.call('GET', `/job/api/${name}?limit=0`),
      api.call('GET', `/job/api/${name}?unknown=1`),
      api.call('GET', `/job/api/${name}?cursor=forged`),
    ]
    for (const answer of await Promise.all(calls)) assertRefused(answer, 'J-500')
    assertRefused(await api.call('GET', at('refused')), notFound)
  })

  test(`${name}: a key without the scope is refused, and learns which one it lacks`, async () => {
    const all: Scope[] = ['READ', 'MANAGE', 'TRIGGER']
    const without = async (scope: Scope) => (await api.newKey(all.filter((each) => each !== scope))).apiKey
    const [cannotRead, cannotWrite] = [await without(scopes.read), await without(scopes.write)]
    for (const path of [at('nothing'), `/job/api/${name}`]) {
      assertRefused(await api.call('GET', path, { key: cannotRead }), 'J-804', scopes.read)
    }
    const body = content
    assertRefused(await api.call('PUT', at('x'), { body, key: cannotWrite }), 'J-804', scopes.write)
    assertRefused(await api.call('DELETE', at('x'), { key: cannotWrite }), 'J-804', scopes.write)
    if (scopes.alsoPut) {
      const key = await without(scopes.alsoPut)
      assertRefused(await api.call('PUT', at('x'), { body, key }), 'J-804', scopes.alsoPut)
    }
  })

  test(`${name}: with If-None-Match one of many puts at once creates it, and none replaces it`, async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => put('new', content, ifNew)))
    const refused = answers.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 3)
    for (const answer of refused) assertRefused(answer, 'J-312')
    const before = (await api.call('GET', at('new'))).json
    const problem = await put('new', other, { ...ifNew, accept: 'application/problem+json' })
    assert.equal(problem.json.detail, `A ${noun} "new" already exists.`)
    assert.deepEqual((await api.call('GET', at('new'))).json, before)
    const tag = answers.find(({ status }) => status === 201)?.headers.get('etag')
    if (tag) assertRefused(await put('new', other, { ...ifNew, 'if-match': tag }), 'J-312')
    assert.equal((await api.call('DELETE', at('new'))).status, 204)
    assert.equal((await put('new', content, ifNew)).status, 201)
  })

  test(`${name}: a list has every one once, in order, page by page`, async () => {
    const ids = ['page-1', 'page-2', 'page-3']
    for (const id of ids) assert.equal((await put(id, content)).status, 201)
    const found: string[] = []
    let cursor: string | null = null
    do {
      const query = new URLSearchParams({ limit: '1', ...(cursor !== null && { cursor }) })
      const { json } = await api.call('GET', `/job/api/${name}?${query}`)
      assert.equal(json.items.length, 1)
      found.push(json.items[0][key])
      cursor = json.nextCursor
    } while (cursor !== null)
    assert.deepEqual(found, found.toSorted())
    assert.deepEqual(
      found.filter((id) => ids.includes(id)),
      ids,
    )
  })

  const types = Object.values(events)
  if (types.length === 0) continue
  test(`${name}: the event log has what its description names`, async (t) => {
    const listener = await EventListener.open(api.http, api.adminKey)
    t.after(() => listener.close())
    await put('told', content)
    await put('told', other)
    await api.call('DELETE', at('told'))
    const told = () =>
      listener.events.filter(({ data }: JobcastEvent) => (data as Record<string, unknown>)[key] === 'told')
    await listener.until(() => told().length >= types.length)
    assert.deepEqual(
      told().map(({ type }) => type),
      [events.created, events.updated, events.deleted].filter((type) => type !== undefined),
    )
  })
}

test('descriptions name quotas, codes and statuses that there are', () => {
  for (const { name, quota, notFound, inUse } of Object.values(resources) as Resource[]) {
    assert.ok(typeof quota === 'number' || (quotaNames as string[]).includes(quota), `${name}: ${quota}`)
    assert.equal(errorCatalogue[notFound].status, 404, name)
    if (inUse) assert.equal(errorCatalogue[inUse].status, 409, name)
  }
})
