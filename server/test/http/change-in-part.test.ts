// Devices and jobs changed in part, and created only if they do not exist.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const problem = { accept: 'application/problem+json' }
const patch = (deviceId: string, body: object, headers: Record<string, string> = {}) =>
  api.call('PATCH', `/job/api/devices/${deviceId}`, { body, headers: { ...problem, ...headers } })

test('PATCH of a device is a merge patch: omitted fields are kept, null removes a field', async () => {
  const full = {
    deviceName: 'One',
    tags: ['a', 'b'],
    attributes: { site: 'oslo', ram: 4 },
    timeZone: 'Asia/Tokyo',
  }
  await api.call('PUT', '/job/api/devices/p1', { body: full })
  const shown = ({ deviceName, tags, attributes, timeZone }: typeof full) => ({
    deviceName,
    tags,
    attributes,
    timeZone,
  })
  const steps: [object, object][] = [
    [{}, full],
    [
      { attributes: { site: 'lima', ram: null, fw: '2.4' } },
      { ...full, attributes: { site: 'lima', fw: '2.4' } },
    ],
    [{ tags: ['c'] }, { ...full, tags: ['c'], attributes: { site: 'lima', fw: '2.4' } }],
    [
      { deviceName: null, timeZone: null },
      { deviceName: 'p1', tags: ['c'], attributes: { site: 'lima', fw: '2.4' }, timeZone: null },
    ],
    [
      { attributes: null, tags: null },
      { deviceName: 'p1', tags: [], attributes: {}, timeZone: null },
    ],
  ]
  for (const [body, expected] of steps) {
    const { status, json, headers } = await patch('p1', body, {
      'content-type': 'application/merge-patch+json',
    })
    assert.equal(status, 200)
    assert.deepEqual(shown(json), expected)
    const read = await api.call('GET', '/job/api/devices/p1')
    assert.deepEqual(shown(read.json), expected)
    assert.equal(read.headers.get('etag'), headers.get('etag'))
  }
})

test('a patch is refused as a put is, and honours If-Match', async () => {
  const many = (from: number) => Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`a${from + n}`, n]))
  const { headers } = await api.call('PUT', '/job/api/devices/p2', { body: { attributes: many(0) } })
  for (const [body, field] of [
    [{ attributes: { x: 1 } }, 'attributes'],
    [{ attributes: { 'a b': 1 } }, 'attributes'],
    [{ attributes: { timeZone: 'UTC' } }, 'attributes'],
    [{ attributes: { x: {} } }, 'attributes.x'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ colour: 'red' }, 'colour'],
  ] as const) {
    const { status, json } = await patch('p2', body)
    assert.deepEqual([status, json.code, json.field], [400, 'J-500', field])
  }
  const removed = Object.fromEntries(Object.keys(many(0)).map((name) => [name, null]))
  const replaced = await patch(
    'p2',
    { attributes: { ...removed, ...many(64) } },
    { 'if-match': headers.get('etag') ?? '' },
  )
  assert.equal(Object.keys(replaced.json.attributes).length, 64)
  assert.equal((await patch('p2', {}, { 'if-match': headers.get('etag') ?? '' })).json.code, 'J-312')
  assert.equal((await patch('nobody', {})).json.code, 'J-001')
  assert.equal((await patch('p2', {}, { 'content-type': 'text/plain' })).status, 415)
})

test('patches of one device at the same time all take effect', async () => {
  await api.call('PUT', '/job/api/devices/p3', { body: {} })
  const patches = Array.from({ length: 8 }, (_, n) => patch('p3', { attributes: { [`a${n}`]: n } }))
  for (const { status } of await Promise.all(patches)) assert.equal(status, 200)
  const { json } = await api.call('GET', '/job/api/devices/p3')
  assert.equal(Object.keys(json.attributes).length, 8)
})

for (const path of ['devices/only-new', 'jobs/only-new']) {
  test(`If-None-Match: * creates ${path} once; then it is J-312`, async () => {
    const put = (headers: Record<string, string>) =>
      api.call('PUT', `/job/api/${path}`, { body: {}, headers })
    const create = () => put({ 'if-none-match': '*' })
    const both = await Promise.all([create(), create(), create()])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 412, 412])
    assertRefused(await create(), 'J-312')
    assert.match(
      (await put({ 'if-none-match': '*', ...problem })).json.detail,
      /A (?:device|job) "only-new" already exists/,
    )
    assert.equal((await put({ 'if-none-match': '*', 'if-match': '*' })).status, 412)
    assert.equal((await put({ 'if-none-match': '"1"' })).json.code, 'J-500')
    assert.equal((await put({})).status, 200)
    await api.call('DELETE', `/job/api/${path}`)
    assert.equal((await create()).status, 201)
  })
}

test('a selector over 4 KiB is J-503 wherever it is given', async () => {
  const where = `site="${'x'.repeat(4100)}"`
  const [job, jobName] = ['/job/api/jobs/long', 'long']
  await api.call('PUT', job, { body: {} })
  const rollout = (gate: object, wave: object = {}) => ({ waves: [{ size: '100%', ...wave }], next: gate })
  const targets = { where: 'all' }
  for (const [method, path, body] of [
    ['GET', `/job/api/devices?where=${encodeURIComponent(where)}`, undefined],
    ['POST', '/job/api/devices/count', { where }],
    ['PUT', '/job/api/groups/long', { where }],
    ['POST', '/job/api/runs', { jobName, targets: { where } }],
    ['POST', '/job/api/runs?dryRun=true', { jobName, targets: { where } }],
    ['POST', '/job/api/runs', { jobName, targets, rollout: rollout({ where }) }],
    ['POST', '/job/api/runs', { jobName, targets, rollout: rollout({}, { where }) }],
    ['PUT', job, { rollout: rollout({ where }) }],
    ['PUT', '/job/api/schedules/long', { jobName, targets: { where }, when: { match: true } }],
  ] as const) {
    const { status, json } = await api.call(method, path, body === undefined ? {} : { body })
    assert.deepEqual([status, json.code], [400, 'J-503'], `${method} ${path.slice(0, 40)}`)
    assert.match(json.message, /at most 4096 bytes/)
  }
})
