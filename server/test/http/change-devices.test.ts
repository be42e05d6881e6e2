// Many devices changed in one call.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer()
const change = (body: object, query = '') =>
  api.call('POST', `/job/api/devices/change${query}`, {
    body,
    headers: { accept: 'application/problem+json' },
  })
const device = async (deviceId: string) => (await api.call('GET', `/job/api/devices/${deviceId}`)).json
const answer = (matched: number, changed: number) => ({ matched, changed, failed: [], failedTotal: 0 })

for (const [n, tags] of [
  ['b1', 'x'],
  ['b2', 'z'],
  ['b3', 'x'],
]) {
  const body = {
    deviceName: `Device ${n}`,
    tags: ['fleet', tags],
    attributes: { ring: 1 },
    timeZone: 'Asia/Tokyo',
  }
  await api.call('PUT', `/job/api/devices/${n}`, { body })
}

test('a change adds and removes tags and attributes, once; a dry run only counts', async () => {
  const body = {
    where: 'tag=fleet',
    addTags: ['x', 'new'],
    removeTags: ['z'],
    attributes: { ring: 2, site: 'oslo', old: null },
  }
  const before = await device('b2')
  assert.deepEqual((await change(body, '?dryRun=true')).json, answer(3, 3))
  assert.deepEqual(await device('b2'), before)
  assert.deepEqual((await change(body)).json, answer(3, 3))
  const { deviceName, tags, attributes, timeZone } = await device('b2')
  assert.deepEqual([deviceName, tags, timeZone], ['Device b2', ['fleet', 'new', 'x'], 'Asia/Tokyo'])
  assert.deepEqual(attributes, { ring: 2, site: 'oslo' })
  assert.deepEqual((await change(body)).json, answer(3, 0))
  const ids = { deviceIds: ['b1', 'b3', 'b1'], attributes: { ring: null } }
  assert.deepEqual((await change(ids)).json, answer(2, 2))
  assert.deepEqual((await device('b1')).attributes, { site: 'oslo' })
  assert.deepEqual((await device('b2')).attributes, { ring: 2, site: 'oslo' })
  assert.deepEqual((await change({ where: 'tag=nobody', addTags: ['x'] })).json, answer(0, 0))
})

test('a change that takes its devices out of the selection changes each of them', async () => {
  const lines = Array.from({ length: 2500 }, (_, n) =>
    JSON.stringify({ deviceId: `many-${n}`, tags: ['many'] }),
  )
  await api.call('POST', '/job/api/devices/import', {
    rawBody: lines.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  const body = { where: 'tag=many', removeTags: ['many'], attributes: { was: 'many' } }
  assert.deepEqual((await change(body)).json, answer(2500, 2500))
  assert.deepEqual((await change(body)).json, answer(0, 0))
  const { json } = await api.call('POST', '/job/api/devices/count', { body: { where: 'own.was=many' } })
  assert.equal(json.total, 2500)
})

test('concurrent changes of a device are not lost', async () => {
  const patches = ['b1', 'b2', 'b3'].flatMap((deviceId) =>
    [1, 2, 3].map((n) =>
      api.call('PATCH', `/job/api/devices/${deviceId}`, { body: { attributes: { [`p${n}`]: n } } }),
    ),
  )
  const changes = ['c1', 'c2', 'c3'].map((tag) => change({ where: 'tag=fleet', addTags: [tag] }))
  for (const { status } of await Promise.all([...patches, ...changes])) assert.equal(status, 200)
  for (const deviceId of ['b1', 'b2', 'b3']) {
    const { tags, attributes } = await device(deviceId)
    for (const tag of ['c1', 'c2', 'c3']) assert.ok(tags.includes(tag), tag)
    for (const name of ['p1', 'p2', 'p3']) assert.ok(name in attributes, name)
  }
})

test('devices that would have too much are named, and the others are changed', async () => {
  const full = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`a${n}`, n]))
  await api.call('PUT', '/job/api/devices/full', {
    body: { tags: ['limit'], attributes: full, timeZone: 'UTC' },
  })
  await api.call('PUT', '/job/api/devices/free', { body: { tags: ['limit'] } })
  const { json } = await change({ where: 'tag=limit', attributes: { one: 1 } })
  assert.deepEqual([json.matched, json.changed, json.failedTotal], [2, 1, 1])
  assert.deepEqual([json.failed[0].deviceId, json.failed[0].code], ['full', 'J-500'])
  assert.deepEqual((await change({ where: 'tag=limit', attributes: { one: 1, a0: null } })).json.changed, 1)
})

test('what cannot be changed is refused, and nothing is', async () => {
  for (const [body, code, field] of [
    [{ addTags: ['x'] }, 'J-500', 'where'],
    [{ where: 'all', deviceIds: ['b1'], addTags: ['x'] }, 'J-500', 'where'],
    [{ where: 'all' }, 'J-500', 'body'],
    [{ where: 'all', addTags: ['q'], removeTags: ['q'] }, 'J-500', 'removeTags'],
    [{ where: 'all', attributes: { 'a b': null } }, 'J-500', 'attributes'],
    [{ where: 'all', attributes: { timeZone: 'UTC' } }, 'J-500', 'attributes'],
    [{ where: 'tag=', addTags: ['q'] }, 'J-503', 'where'],
    [{ where: 'group=nowhere', addTags: ['q'] }, 'J-309', 'where'],
    [{ deviceIds: ['b1', 'nobody'], addTags: ['q'] }, 'J-001', 'deviceIds'],
  ] as const) {
    const { json } = await change(body)
    assert.deepEqual([json.code, json.field], [code, field], JSON.stringify(body))
  }
  assert.ok(!(await device('b1')).tags.includes('q'))
})

test('a schedule with match sees the change', async () => {
  await api.call('PUT', '/job/api/jobs/matched', { body: {} })
  const schedule = { jobName: 'matched', targets: { where: 'own.wave=1' }, when: { match: true } }
  assert.equal((await api.call('PUT', '/job/api/schedules/matched', { body: schedule })).status, 201)
  await change({ deviceIds: ['b1', 'b2'], attributes: { wave: 1 } })
  await waitUntil('both have it', async () => {
    const { json } = await api.call('GET', '/job/api/executions?jobName=matched')
    return json.items.length === 2
  })
})
