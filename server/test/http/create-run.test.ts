// POST /job/api/runs and POST /job/api/devices/import.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['k1', 'k2', 'r1'])
await api.call('PUT', '/job/api/jobs/update', { body: { document: { version: 7 } } })
for (const [deviceId, site] of [
  ['k1', 'berlin'],
  ['k2', 'lima'],
  ['r1', 'berlin'],
] as const) {
  const body = { tags: [deviceId[0] === 'k' ? 'kiosk' : 'robot'], attributes: { site } }
  await api.call('PUT', `/job/api/devices/${deviceId}`, { body })
}
await api.call('PUT', '/job/api/groups/kiosks', { body: { where: 'tag=kiosk' } })
const create = (targets: object, more: object = {}, headers: Record<string, string> = {}, query = '') =>
  api.call('POST', `/job/api/runs${query}`, { body: { jobName: 'update', targets, ...more }, headers })
const devicesOf = async (runId: number) => {
  const { json } = await api.call('GET', `/job/api/executions?runId=${runId}`)
  return json.items.map(({ deviceId }: { deviceId: string }) => deviceId).toSorted()
}

test('a run is made on a list, a selector or a group, and keeps what was asked', async () => {
  const listed = await create({ deviceIds: ['r1', 'k1', 'r1'] }, { note: 'Ticket 4711' })
  assert.equal(listed.status, 201)
  assert.equal(listed.headers.get('location'), `/job/api/runs/${listed.json.runId}`)
  assert.deepEqual([listed.json.total, listed.json.where, listed.json.matched], [2, null, null])
  assert.equal(listed.json.note, 'Ticket 4711')
  const selected = await create({ where: 'site=berlin' })
  assert.deepEqual([selected.json.total, selected.json.where, selected.json.matched], [2, 'site=berlin', 2])
  assert.deepEqual(await devicesOf(selected.json.runId), ['k1', 'r1'])
  const grouped = await create({ group: 'kiosks' })
  assert.deepEqual([grouped.json.total, grouped.json.where], [2, 'group="kiosks"'])
  assert.deepEqual(await devicesOf(grouped.json.runId), ['k1', 'k2'])
  assert.deepEqual((await api.call('GET', `/job/api/runs/${grouped.json.runId}`)).json, grouped.json)
})

test('what cannot be made is refused, and nothing is made', async () => {
  const before = (await api.call('GET', '/job/api/runs')).json.items.length
  assertRefused(await create({ where: 'site=oslo' }), 'J-504')
  const unknown = await create({ where: 'sit=oslo' }, {}, { accept: 'application/problem+json' })
  assert.deepEqual([unknown.json.code, unknown.json.detail], ['J-504', 'No device has an attribute sit.'])
  assertRefused(await create({ group: 'nobody' }), 'J-309')
  assertRefused(await create({ deviceIds: ['k1', 'nobody'] }), 'J-001')
  assertRefused(await create({ where: 'all' }, { jobName: 'none' }), 'J-301')
  assert.equal((await create({ where: 'site=' })).json.code, 'J-503')
  for (const targets of [{}, { where: 'all', group: 'kiosks' }, { deviceIds: [] }, { tag: 'x' }]) {
    assertRefused(await create(targets), 'J-500')
  }
  const accept = { accept: 'application/problem+json' }
  const { json } = await create({ where: 'all' }, { startsAt: '2026-12-01T03:00:00Z' }, accept)
  assert.deepEqual([json.code, json.field], ['J-500', 'startsAt'])
  assert.match(json.detail, /unknown field startsAt; known are jobName, targets/)
  for (const field of ['startAt', 'window', 'version', 'parameters']) {
    const { json } = await create({ where: 'all' }, { [field]: [] }, accept)
    assert.deepEqual([json.code, json.field], ['J-500', field])
  }
  assert.equal((await api.call('GET', '/job/api/runs')).json.items.length, before)
})

test('an Idempotency-Key makes one run, also when the selection has changed since', async () => {
  const key = { 'idempotency-key': 'once-and-for-all' }
  const first = await create({ where: 'site=lima' }, {}, key)
  await api.call('PUT', '/job/api/devices/k9', { body: { attributes: { site: 'lima' } } })
  const again = await create({ where: 'site=lima' }, {}, key)
  assert.deepEqual([again.status, again.json], [201, first.json])
  assertRefused(await create({ where: 'site=berlin' }, {}, key), 'J-501')
  await api.call('DELETE', '/job/api/devices/k9')
})

test('a dry run answers with the plan and makes nothing', async () => {
  const before = (await api.call('GET', '/job/api/runs')).json.items.length
  const { status, json } = await create({ where: 'site=berlin and not colour=red' }, {}, {}, '?dryRun=true')
  assert.equal(status, 200)
  const { planId, ...plan } = json
  assert.deepEqual(plan, {
    ...{ total: 2, online: 0, offline: 2, busy: 0, waves: [{ size: 2, sample: ['k1', 'r1'] }] },
    document: { version: 7 },
    holds: [],
    problems: ['No device has an attribute colour.'],
  })
  const empty = await create({ where: 'site=oslo' }, {}, {}, '?dryRun=true')
  assert.deepEqual([empty.json.total, empty.json.problems], [0, ['The selector matches no device.']])
  assert.equal((await create({ deviceIds: ['k1'] }, {}, {}, '?dryRun=true')).json.total, 1)
  assertRefused(await create({ deviceIds: ['nobody'] }, {}, {}, '?dryRun=true'), 'J-001')
  assert.equal((await api.call('GET', '/job/api/runs')).json.items.length, before)
})

const importLines = (lines: string[], type = 'application/x-ndjson') =>
  api.call('POST', '/job/api/devices/import', {
    rawBody: lines.join('\n'),
    headers: { 'content-type': type },
  })

test('an import creates, updates and leaves alone, and names the lines that it refuses', async () => {
  const lines = [
    JSON.stringify({ deviceId: 'i1', tags: ['imported'], attributes: { site: 'oslo' } }),
    '',
    JSON.stringify({ deviceId: 'i2', deviceName: 'Two', timeZone: 'Europe/Oslo' }),
    '{"deviceId": "i3", ',
    JSON.stringify({ deviceName: 'nobody' }),
    JSON.stringify({ deviceId: 'a/b' }),
    JSON.stringify({ deviceId: 'i4', attributes: { 'a b': 1 } }),
    JSON.stringify({ deviceId: 'k1', tags: ['kiosk'], attributes: { site: 'berlin' } }),
    JSON.stringify({ deviceId: 'i5', colour: 'red' }),
    JSON.stringify({ deviceId: 'i6', deviceName: 'x'.repeat(200_000) }),
  ]
  const { status, json } = await importLines(lines)
  assert.equal(status, 200)
  const { failed, ...counts } = json
  assert.deepEqual(counts, { created: 2, updated: 0, unchanged: 1, failedTotal: 6 })
  assert.deepEqual(
    failed.map(({ line, code }: { line: number; code: string }) => [line, code]),
    [4, 5, 6, 7, 9].map((line) => [line, 'J-500']).concat([[10, 'J-904']]),
  )
  assert.match(failed[1].message, /deviceId is required/)
  const again = await importLines([
    ...lines.slice(0, 3),
    JSON.stringify({ deviceId: 'k2', deviceName: 'new' }),
  ])
  assert.deepEqual(again.json, { created: 0, updated: 1, unchanged: 2, failed: [], failedTotal: 0 })
  assert.equal((await api.call('GET', '/job/api/devices/i2')).json.timeZone, 'Europe/Oslo')
  const wrong = await importLines(lines, 'text/plain')
  assert.deepEqual([wrong.status, wrong.json.code], [415, 'J-905'])
  assert.match(wrong.json.message, /send application\/x-ndjson or text\/csv in UTF-8/)
  assert.equal(
    (await api.call('POST', '/job/api/devices/count', { body: { where: 'tag=imported' } })).json.total,
    1,
  )
})

chaosTest('an import of thousands is one call', async () => {
  const lines = Array.from({ length: 3000 }, (_, n) =>
    JSON.stringify({ deviceId: `many-${n}`, tags: ['many'] }),
  )
  assert.deepEqual((await importLines(lines)).json, {
    ...{ created: 3000, updated: 0, unchanged: 0, failed: [], failedTotal: 0 },
  })
  const { json } = await api.call('POST', '/job/api/devices/count', { body: { where: 'tag=many' } })
  assert.deepEqual([json.total, json.sample.length], [3000, 20])
})

test('a run on more devices than one write holds is visible as a whole', async () => {
  const lines = Array.from({ length: 12_000 }, (_, n) =>
    JSON.stringify({ deviceId: `large-${n}`, tags: ['large'] }),
  )
  assert.equal((await importLines(lines)).json.created, 12_000)
  const waves = { order: 'GIVEN', waves: [{ size: 11_000 }, { size: '100%' }] }
  const { json: plan } = await create({ where: 'tag=large' }, { rollout: waves }, {}, '?dryRun=true')
  assert.match(
    plan.problems.join(),
    /first wave needs 11000 of 11000 devices to succeed, but none is online now/,
  )
  const key = { 'idempotency-key': 'large-once' }
  const [large, small] = await Promise.all([
    create({ where: 'tag=large' }, {}, key),
    create({ deviceIds: ['large-5'] }),
  ])
  assert.deepEqual([large.status, small.status], [201, 201])
  assert.deepEqual(
    [large.json.total, large.json.counts.PENDING, large.json.matched],
    [12_000, 12_000, 12_000],
  )
  assert.equal((await create({ where: 'tag=large' }, {}, key)).json.runId, large.json.runId)
  const { json } = await api.call('GET', '/job/api/executions?deviceId=large-5')
  const ids = json.items.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId)
  assert.equal(ids.length, 2)
  assert.deepEqual(
    ids,
    ids.toSorted((a: number, b: number) => b - a),
  )
  const canceled = await api.call('POST', `/job/api/runs/${large.json.runId}/cancel`)
  assert.ok([200, 202].includes(canceled.status))
})

chaosTest('waves of a large run take the devices that match them', async () => {
  const before = (await api.call('GET', '/job/api/runs')).json.items.length
  const lines = ['large-11', 'large-4000', 'large-11999'].map((deviceId) =>
    JSON.stringify({ deviceId, tags: ['large', 'canary'] }),
  )
  assert.equal((await importLines(lines)).json.updated, 3)
  const rollout = (waves: object[], order = 'RANDOM') => ({
    rollout: { order, waves, next: { action: 'PAUSE' } },
  })
  const rest = [{ size: '10%' }, { size: '100%' }]
  const where = 'tag=large'
  assertRefused(await create({ where }, rollout([{ size: 5, where: 'tag=none' }, ...rest])), 'J-500')
  assertRefused(await create({ where }, rollout([{ size: 5, where: 'group=none' }, ...rest])), 'J-309')
  assertRefused(await create({ where }, rollout([{ size: 5, where: 'tag=canary' }])), 'J-500')
  assert.equal((await create({ where }, rollout([{ size: 5, where: 'tag=' }, ...rest]))).json.code, 'J-503')
  assert.equal((await api.call('GET', '/job/api/runs')).json.items.length, before)

  const asked = rollout([{ size: 5, where: 'tag=canary' }, { size: 2, where: 'deviceId~large-77*' }, ...rest])
  const plan = (await create({ where }, asked, {}, '?dryRun=true')).json
  const sizes = [3, 2, 1200, 10_795]
  assert.deepEqual(
    plan.waves.map(({ size }: { size: number }) => size),
    sizes,
  )
  const named: string[] = plan.waves.flatMap(({ sample }: { sample: string[] }) => sample)
  assert.equal(named.length, 45, '20 of each wave that has that many')
  const { json: run } = await api.call('POST', '/job/api/runs', { body: { planId: plan.planId } })
  assert.deepEqual(
    run.rollout.waves.map(({ size }: { size: number }) => size),
    sizes,
  )
  const idOf = async (query: string): Promise<number> => {
    const { json } = await api.call('GET', `/job/api/executions?runId=${run.runId}&limit=1${query}`)
    return json.items[0].jobExecutionId
  }
  const first = (await idOf('')) - 11_999
  const canaries = await Promise.all(
    ['large-11', 'large-4000', 'large-11999'].map((deviceId) => idOf(`&deviceId=${deviceId}`)),
  )
  assert.deepEqual(
    canaries.toSorted((one, other) => one - other),
    [first, first + 1, first + 2],
  )
  // The order of the last wave is the one that was drawn for the plan.
  assert.equal(await idOf(`&deviceId=${named[25]}`), first + 1205)
  const canceled = await api.call('POST', `/job/api/runs/${run.runId}/cancel`)
  assert.ok([200, 202].includes(canceled.status))
})
