// Every list, walked page by page while rows are added: no gap, no double, and an end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const rows = 7
const devices = Array.from({ length: rows }, (_, i) => `d${i}`)
const api = await openSharedServer()
await api.putJobAndDevices('walked', devices)
await api.putJobAndDevices('other', devices)
await api.putJobAndDevices('mixed', devices)

type Item = Record<string, unknown>
type List = {
  title: string
  path: string
  id: string
  /** Adds a row to the list, before or behind the place where the walk is. */
  add: (name: string) => Promise<unknown>
}

const put = (path: string, body = {}) => api.call('PUT', path, { body })
const trigger = (jobName: string, deviceIds = ['d0']) => api.trigger(jobName, deviceIds)
const executionsOf = (query: string, add: List['add']): List => ({
  title: `executions?${query}`,
  path: `/job/api/executions?${query}&`,
  id: 'jobExecutionId',
  add,
})
async function triggerAndCancel(): Promise<void> {
  const [{ jobExecutionId }] = (await trigger('walked')).json
  await api.call('POST', `/job/api/executions/${jobExecutionId}/cancel`)
}
const firstRun = (await trigger('mixed', devices)).headers.get('location')?.split('/').at(-1)

const lists: List[] = [
  { title: 'jobs', path: '/job/api/jobs?', id: 'jobName', add: (name) => put(`/job/api/jobs/${name}`) },
  {
    title: 'devices',
    path: '/job/api/devices?',
    id: 'deviceId',
    add: (name) => put(`/job/api/devices/${name}`),
  },
  {
    title: 'devices?tag',
    path: '/job/api/devices?tag=walked&',
    id: 'deviceId',
    add: (name) => put(`/job/api/devices/tagged-${name}`, { tags: ['walked'] }),
  },
  { title: 'runs', path: '/job/api/runs?', id: 'runId', add: () => trigger('walked') },
  { title: 'runs?jobName', path: '/job/api/runs?jobName=walked&', id: 'runId', add: () => trigger('walked') },
  {
    title: 'enrollments',
    path: '/job/api/enrollments?',
    id: 'enrollmentId',
    add: (name) => api.call('POST', '/job/api/enrollments', { body: { name } }),
  },
  { title: 'keys', path: '/job/api/keys?', id: 'keyId', add: () => api.newKey([]) },
  {
    title: 'owners',
    path: '/job/api/owners?',
    id: 'ownerId',
    add: (name) => api.call('POST', '/job/api/owners', { body: { ownerName: name } }),
  },
  executionsOf('', () => trigger('walked', ['d0', 'd1'])),
  executionsOf('jobName=walked', () => trigger('walked')),
  executionsOf('deviceId=d3', () => trigger('other', ['d4', 'd3'])),
  executionsOf('execState=PENDING', () => trigger('walked')),
  executionsOf('execState=CANCELED', triggerAndCancel),
  executionsOf('deviceId=d0&execState=CANCELED', triggerAndCancel),
  executionsOf(`runId=${firstRun}`, () => trigger('mixed')),
  executionsOf('launchedAfter=2020-01-01T00:00:00Z', () => trigger('walked')),
  executionsOf('launchedBefore=2126-01-01T00:00:00Z', () => trigger('walked')),
  executionsOf('jobName=other&deviceId=d3&execState=PENDING', () => trigger('other', ['d3'])),
]

/** All ids of the list, in pages of 3; `between` happens after each page. */
async function walk({ path, id }: List, between: () => Promise<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const given: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { json } = await api.call('GET', `${path}limit=3${given}`)
    assert.ok(json.items.length <= 3)
    seen.push(...json.items.map((item: Item) => item[id]))
    cursor = json.nextCursor
    await between()
  }
  return seen
}

for (const list of lists) {
  test(`${list.title}: a walk over pages of 3 sees each row once, in order, while rows are added`, async () => {
    for (let i = 0; i < rows; i++) await list.add(`row-${i}`)
    const before = await walk(list, async () => undefined)
    assert.ok(before.length >= rows)
    assert.equal(new Set(before).size, before.length)

    let added = 0
    const during = await walk(list, async () => {
      // In front of, among and behind what was there, for lists that go by name; then the walk can end.
      if (added < 6) await list.add(`${['0', 'row-3', 'zz'][added % 3]}-${added}`)
      added++
    })
    assert.equal(new Set(during).size, during.length)
    const wanted = new Set(before)
    assert.deepEqual(
      during.filter((id) => wanted.has(id)),
      before,
    )
  })
}

test('a page has 50 rows by default, and nextCursor is null on the last', async () => {
  await Promise.all(Array.from({ length: 60 }, (_, i) => put(`/job/api/jobs/many-${i}`)))
  const first = (await api.call('GET', '/job/api/jobs')).json
  assert.equal(first.items.length, 50)
  assert.equal(typeof first.nextCursor, 'string')
  const all = (await api.call('GET', '/job/api/jobs?limit=200')).json
  assert.equal(all.nextCursor, null)
})

const names = ['jobs', 'devices', 'enrollments', 'executions', 'runs', 'keys', 'owners']
const paths = names.map((name) => `/job/api/${name}`)
const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const refused = [
  'limit=0',
  'limit=201',
  'limit=-1',
  'limit=1.5',
  'limit=',
  'limit=ten',
  'limit=1&limit=2',
  'page=2',
  'cursor=',
  'cursor=!!!',
  'cursor=bm9uc2Vuc2U',
  `cursor=${cursorOf(null)}`,
  `cursor=${cursorOf({ $gt: '' })}`,
  `cursor=${cursorOf([1])}`,
  `cursor=${cursorOf('a\0')}`,
  `cursor=${cursorOf('\ud800')}`,
  `cursor=${cursorOf(2 ** 60)}`,
  `cursor=${'A'.repeat(513)}`,
]
test('the list of owners answers J-500 to a cursor beyond its column', async () => {
  assertRefused(await api.call('GET', `/job/api/owners?cursor=${cursorOf(2 ** 31)}`), 'J-500')
})

for (const query of refused) {
  test(`every list answers J-500 to ?${query.slice(0, 40)}`, async () => {
    for (const path of paths) assertRefused(await api.call('GET', `${path}?${query}`), 'J-500')
  })
}
