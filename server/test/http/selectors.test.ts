// Attributes, selectors and groups over HTTP.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
const put = (deviceId: string, body: object) => api.call('PUT', `/job/api/devices/${deviceId}`, { body })
const where = async (text: string) => {
  const { json } = await api.call('GET', `/job/api/devices?where=${encodeURIComponent(text)}`)
  return json.items.map(({ deviceId }: { deviceId: string }) => deviceId)
}
function assertUnreadable({
  status,
  json,
}: {
  status: number
  json: { code: string; message: string }
}): void {
  assert.deepEqual([status, json.code], [400, 'J-503'])
  assert.match(json.message, /^Invalid selector: ./)
}

await put('k1', {
  tags: ['kiosk'],
  attributes: { site: 'berlin', fw: '2.4.0', ram: 512 },
  timeZone: 'Europe/Berlin',
})
await put('k2', { tags: ['kiosk'], attributes: { site: 'lima', fw: '2.10.0', beta: true } })
await put('r1', { tags: ['robot'], attributes: { site: 'berlin' } })

test('PUT takes attributes and a time zone, and resets them when they are left out', async () => {
  const { json } = await put('k3', {
    attributes: { site: 'oslo', fw: 3, beta: false },
    timeZone: 'Asia/Tokyo',
  })
  assert.deepEqual(json.attributes, { site: 'oslo', fw: 3, beta: false })
  assert.equal(json.timeZone, 'Asia/Tokyo')
  assert.deepEqual(await where('timeZone~Asia/*'), ['k3'])
  const again = await put('k3', {})
  assert.deepEqual([again.json.attributes, again.json.timeZone], [{}, null])
})

const refused: [object, RegExp][] = [
  [{ attributes: { '': 1 } }, /"" is not a valid attribute name/],
  [{ attributes: { 'a b': 1 } }, /"a b" is not a valid attribute name/],
  [{ attributes: { tag: 1 } }, /"tag" is not a valid attribute name/],
  [{ attributes: { timeZone: 'UTC' } }, /is a separate field/],
  [{ attributes: { a: null } }, /attributes.a/],
  [{ attributes: { a: {} } }, /attributes.a/],
  [{ attributes: { a: 'x'.repeat(257) } }, /256/],
  [{ attributes: { a: 'x\u0000' } }, /control characters/],
  [{ attributes: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`a${n}`, n])) }, /at most 64/],
  [{ timeZone: 'Mars/Olympus' }, /IANA/],
  [{ timeZone: '+01:00' }, /IANA/],
]

test('attributes and time zones that cannot be stored are refused with J-500', async () => {
  for (const [body, detail] of refused) {
    const reply = await api.call('PUT', '/job/api/devices/x', {
      body,
      headers: { accept: 'application/problem+json' },
    })
    assert.deepEqual([reply.status, reply.json.code], [400, 'J-500'], JSON.stringify(body))
    assert.match(reply.json.detail, detail)
  }
})

test('a list takes a selector beside tag and online, and pages through it', async () => {
  assert.deepEqual(await where('tag=kiosk and site in (berlin, lima) and fw<2.9'), ['k1'])
  assert.deepEqual(await where('site=berlin or beta=true'), ['k1', 'k2', 'r1'])
  const { json } = await api.call('GET', '/job/api/devices?where=site%3Dberlin&tag=robot&online=false')
  assert.deepEqual(
    json.items.map(({ deviceId }: { deviceId: string }) => deviceId),
    ['r1'],
  )
  const first = await api.call('GET', '/job/api/devices?where=site%3Dberlin&limit=1')
  assert.equal(first.json.items[0].deviceId, 'k1')
  const next = await api.call(
    'GET',
    `/job/api/devices?where=site%3Dberlin&limit=1&cursor=${first.json.nextCursor}`,
  )
  assert.equal(next.json.items[0].deviceId, 'r1')
})

test('a selector that cannot be read answers J-503 with its position', async () => {
  const path = `/job/api/devices?where=${encodeURIComponent('tag=kiosk and')}`
  const plain = await api.call('GET', path)
  assert.deepEqual(Object.keys(plain.json), ['code', 'message', 'status'])
  assert.match(plain.json.message, /^Invalid selector: at position 14: expected a name/)
  const { json } = await api.call('GET', path, { headers: { accept: 'application/problem+json' } })
  assert.deepEqual([json.code, json.position, json.field], ['J-503', 14, 'where'])
  assertUnreadable(await api.call('POST', '/job/api/devices/count', { body: { where: 'a=' } }))
  assertRefused(
    await api.call('POST', '/job/api/devices/count', { body: { where: 'group=nobody' } }),
    'J-309',
  )
  assertRefused(await api.call('POST', '/job/api/devices/count', { body: {} }), 'J-500')
})

test('a count has a sample and the unknown attribute names', async () => {
  const { json } = await api.call('POST', '/job/api/devices/count', {
    body: { where: 'site=berlin and not fw>5' },
  })
  assert.deepEqual(json, { total: 2, online: 0, busy: 0, unknownNames: [], sample: ['k1', 'r1'] })
  const none = await api.call('POST', '/job/api/devices/count', { body: { where: 'colour=red' } })
  assert.deepEqual(none.json, { total: 0, online: 0, busy: 0, unknownNames: ['colour'], sample: [] })
})

test('groups are put, read, listed, used and deleted', async () => {
  const body = { where: 'tag=kiosk', description: 'All kiosks' }
  const made = await api.call('PUT', '/job/api/groups/kiosks', { body })
  assert.equal(made.status, 201)
  const { createdAt, updatedAt, createdBy, createdByName, updatedBy, updatedByName, ...rest } = made.json
  assert.deepEqual(rest, { groupName: 'kiosks', window: null, ...body })
  const { keyId, keyName, ownerId } = (await api.call('GET', '/job/api/keys/self')).json
  const by = [`key:${keyId}`, keyName]
  assert.deepEqual([createdBy, createdByName, updatedBy, updatedByName], [...by, ...by])
  const second = await api.newKey(['READ', 'MANAGE'], { ownerId, keyName: 'second' })
  await api.call('PUT', '/job/api/groups/kiosks', { body, key: second.apiKey })
  const [again] = (await api.call('GET', '/job/api/groups')).json.items
  assert.deepEqual([again.createdByName, again.updatedBy], [keyName, `key:${second.keyId}`])
  assert.equal(again.updatedByName, 'second')
  assert.equal((await api.call('PUT', '/job/api/groups/kiosks', { body })).status, 200)
  const berlin = { where: 'group=kiosks and site=berlin' }
  assert.equal((await api.call('PUT', '/job/api/groups/berlin', { body: berlin })).json.description, null)
  assert.deepEqual(await where('group=berlin'), ['k1'])
  assert.deepEqual(await where('tag=kiosk and not group=berlin'), ['k2'])
  const listed = await api.call('GET', '/job/api/groups')
  assert.deepEqual(
    listed.json.items.map(({ groupName }: { groupName: string }) => groupName),
    ['berlin', 'kiosks'],
  )
  assert.equal((await api.call('GET', '/job/api/groups/berlin')).json.where, berlin.where)
  assert.equal((await api.call('DELETE', '/job/api/groups/kiosks?force=true')).status, 204)
  for (const method of ['GET', 'DELETE'] as const)
    assertRefused(await api.call(method, '/job/api/groups/kiosks'), 'J-309')
  assertRefused(await api.call('GET', '/job/api/devices?where=group%3Dberlin'), 'J-309')
})

test('DELETE of a group answers J-315 with what refers to it, up to five names of each kind, unless it is forced', async () => {
  const put = async (path: string, body: object) =>
    assert.equal((await api.call('PUT', `/job/api/${path}`, { body })).status, 201)
  const remove = (query = '') => api.call('DELETE', `/job/api/groups/base${query}`)
  await put('groups/base', { where: 'deviceId=k1' })
  const inner = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => `in-${each}`)
  for (const name of inner) await put(`groups/${name}`, { where: 'tag=x or not GROUP="base"' })
  // It names another group, and a tag of this name.
  await put('groups/other', { where: 'tag=base and group=in-a' })
  const gated = { waves: [{ size: 1 }, { size: '100%' }], next: { where: 'group=base', onMissing: 'WAIT' } }
  await put('jobs/plain', {})
  await put('jobs/waved', { rollout: { waves: [{ size: 1, where: 'group=base' }, { size: '100%' }] } })
  const when = { cron: '0 3 * * *' }
  await put('schedules/by-group', { jobName: 'plain', targets: { group: 'base' }, when })
  await put('schedules/by-where', { jobName: 'plain', targets: { where: 'group=base' }, when })
  await put('schedules/by-gate', { jobName: 'plain', targets: { where: 'all' }, when, rollout: gated })
  await put('schedules/unrelated', { jobName: 'plain', targets: { group: 'other' }, when })
  const started = await api.call('POST', '/job/api/runs', {
    body: { jobName: 'plain', targets: { deviceIds: ['k1', 'k2'] }, rollout: gated },
  })
  const { runId } = started.json
  const refused = await remove()
  assert.deepEqual([refused.status, refused.json.code], [409, 'J-315'])
  assert.equal(
    refused.json.message,
    `The resource is in use: by the groups ${inner.slice(0, 5).join(', ')} and others, and by the job waved, ` +
      `and by the schedules by-gate, by-group, by-where, and by the unfinished run ${runId}`,
  )
  assertRefused(await remove('?force=perhaps'), 'J-500')
  assert.equal((await remove('?force=false')).json.code, 'J-315')

  for (const name of ['other', ...inner]) {
    if (name === 'other') await api.call('DELETE', '/job/api/schedules/unrelated')
    assert.equal((await api.call('DELETE', `/job/api/groups/${name}`)).status, 204, name)
  }
  for (const name of ['by-group', 'by-where', 'by-gate'])
    await api.call('DELETE', `/job/api/schedules/${name}`)
  // A deleted job needs nothing, and what a run was aimed at it has already.
  await api.call('DELETE', '/job/api/jobs/waved')
  assert.equal((await remove()).json.message, `The resource is in use: by the unfinished run ${runId}`)
  await api.call('POST', `/job/api/runs/${runId}/cancel`)
  assert.equal((await remove()).status, 204)
  assertRefused(await remove('?force=true'), 'J-309')
})

test('no group refers to itself, directly or not, or to one that is not there', async () => {
  const group = (name: string, text: string) =>
    api.call('PUT', `/job/api/groups/${name}`, { body: { where: text } })
  assertUnreadable(await group('a', 'group=a'))
  assertRefused(await group('a', 'group=b'), 'J-309')
  assert.equal((await group('a', 'all')).status, 201)
  assert.equal((await group('b', 'not group=a')).status, 201)
  assert.equal((await group('c', 'group=b or online')).status, 201)
  assertUnreadable(await group('a', 'tag=x or group=c'))
  assertUnreadable(await group('a', 'tag='))
  assert.equal((await api.call('GET', '/job/api/groups/a')).json.where, 'all')
  const results = await Promise.all([group('b', 'group=c'), group('c', 'group=b')])
  assert.ok(results.some(({ status }) => status === 400))
  const many = Array(64).fill('group=a').join(' or ')
  for (const [name, of] of [
    ['w1', many],
    ['w2', many.replaceAll('=a', '=w1')],
  ] as const) {
    const { status } = await group(name, of)
    assert.equal(status, name === 'w1' ? 201 : 400)
  }
})

const putGroup = (groupName: string, text: string) =>
  api.call('PUT', `/job/api/groups/${groupName}`, { body: { where: text } })

test('negations in groups of groups cancel out, however many there are', async () => {
  const negated = (text: string) => `${'not ('.repeat(60)}${text}${')'.repeat(60)}`
  await putGroup('negated-0', 'tag=kiosk')
  for (let each = 1; each <= 17; each++) {
    assert.equal((await putGroup(`negated-${each}`, negated(`group=negated-${each - 1}`))).status, 201)
  }
  assert.deepEqual(await where('group=negated-17'), ['k1', 'k2'])
  assert.deepEqual(await where('site=berlin and not group=negated-17'), ['r1'])
})

test('a selector that is too deep or has too many values together with its groups is J-503, not an error of the store', async () => {
  const deep = (text: string) => `${'not (site=x or '.repeat(30)}${text}${')'.repeat(30)}`
  await putGroup('deep-0', 'tag=kiosk')
  for (let each = 1; each <= 3; each++) {
    assert.equal((await putGroup(`deep-${each}`, deep(`group=deep-${each - 1}`))).status, 201)
  }
  assert.deepEqual(await where('group=deep-3'), ['k1', 'k2'])
  const tooDeep = await putGroup('deep-4', deep('group=deep-3'))
  assertUnreadable(tooDeep)
  assert.match(tooDeep.json.message, /nested deeper than 200 levels/)

  const values = Array.from({ length: 1000 }, (_, index) => index.toString(36)).join(',')
  for (let each = 0; each < 10; each++) {
    assert.equal((await putGroup(`values-${each}`, `tag in (${values})`)).status, 201)
  }
  const all = (count: number) =>
    Array.from({ length: count }, (_, each) => `group=values-${each % 10}`).join(' or ')
  assert.deepEqual(await where(`tag=robot or ${all(2)}`), ['r1'])
  const tooMany = await api.call('POST', '/job/api/devices/count', { body: { where: all(11) } })
  assertUnreadable(tooMany)
  assert.match(tooMany.json.message, /more than 10000 values/)
})

test('the widest and deepest selector that is accepted can be run', async () => {
  const level = (text: string) => `(${text} or ${'site=x or '.repeat(2)}site=y)`
  const deep = (text: string) => Array.from({ length: 19 }).reduce<string>(level, text)
  await putGroup('wide-0', 'tag=kiosk')
  for (let each = 1; each <= 10; each++) {
    assert.equal((await putGroup(`wide-${each}`, deep(`group=wide-${each - 1}`))).status, 201)
  }
  assert.deepEqual(await where('group=wide-10'), ['k1', 'k2'])
})
