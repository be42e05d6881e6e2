// Windows as callers and devices see them, on one real server whose clock stands still until a test sets it forward.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { connectDevice, isNext } from '../nodes/connected-device.ts'
import { assertRefused } from './assert-reply.ts'

// Sunday, 2026-11-15, 09:30 in UTC.
const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
await api.putJobAndDevices('plain', [])

const minuteMs = 60_000
/** A failsafe: the promise is 2 s, and the time itself is printed. */
const noticeMs = 45_000
const content = { cron: '0 10 * * *', durationMinutes: 60, timeZone: 'UTC' }
const put = (name: string, body: unknown) => api.call('PUT', `/job/api/windows/${name}`, { body })
const explain = async (id: number) => (await api.call('GET', `/job/api/executions/${id}/explain`)).json

test('a window is created, replaced, listed and deleted, with its defaults filled in', async () => {
  const created = await put('w1', { cron: '0 2 * * *', durationMinutes: 60 })
  const { createdAt, updatedAt, createdBy, createdByName, updatedBy, updatedByName, ...rest } = created.json
  const { keyId, keyName } = (await api.call('GET', '/job/api/keys/self')).json
  const by = [`key:${keyId}`, keyName]
  assert.deepEqual([createdBy, createdByName, updatedBy, updatedByName], [...by, ...by])
  const filled = { timeZone: 'device', cutoffMinutes: 0, except: [] }
  assert.deepEqual(
    [created.status, rest],
    [201, { windowName: 'w1', cron: '0 2 * * *', durationMinutes: 60, ...filled }],
  )
  const except = ['2026-12-24/2027-01-02', '2026-11-16']
  const replaced = await put('w1', { ...content, cutoffMinutes: 30, except })
  assert.deepEqual([replaced.status, replaced.json.except], [200, except])
  assert.deepEqual((await api.call('GET', '/job/api/windows/w1')).json, replaced.json)
  const listed = await api.call('GET', '/job/api/windows')
  assert.deepEqual(
    listed.json.items.map(({ windowName }: { windowName: string }) => windowName),
    ['w1'],
  )
  const next = await api.call('GET', '/job/api/windows/w1/next?count=2&timeZone=Asia/Tokyo')
  assert.deepEqual(next.json, {
    timeZone: 'UTC',
    items: ['2026-11-15', '2026-11-17'].map((day) => ({
      at: `${day}T10:00:00.000Z`,
      local: `${day}T10:00+00:00`,
      offersUntil: `${day}T10:30:00.000Z`,
      until: `${day}T11:00:00.000Z`,
      localUntil: `${day}T11:00+00:00`,
    })),
  })
  assert.equal((await api.call('DELETE', '/job/api/windows/w1')).status, 204)
  for (const method of ['GET', 'DELETE']) {
    assertRefused(await api.call(method, '/job/api/windows/w1'), 'J-311')
  }
})

const refused: [string, object, string, RegExp][] = [
  ['six fields', { cron: '0 0 2 * * *' }, 'cron', /seconds/],
  ['a field that cannot be', { cron: '61 * * * *' }, 'cron', /cron/],
  ['a date that never comes', { cron: '0 0 31 2 *' }, 'cron', /never occurs/],
  ['an unknown zone', { timeZone: 'Mars/Olympus' }, 'timeZone', /IANA/],
  ['an offset', { timeZone: '+01:00' }, 'timeZone', /IANA/],
  ['more than a day', { durationMinutes: 1441 }, 'durationMinutes', /1440/],
  ['no minute', { durationMinutes: 0 }, 'durationMinutes', /1/],
  ['a cutoff as long as itself', { cutoffMinutes: 60 }, 'cutoffMinutes', /less than durationMinutes/],
  [
    'an exception that ends before it begins',
    { except: ['2027-01-02/2026-12-24'] },
    'except[0]',
    /ends before/,
  ],
  [
    'a day that there is not',
    { except: ['2026-12-24', '2026-02-30'] },
    'except[1]',
    /no such date: 2026-02-30/,
  ],
  ['a date that is none', { except: ['tomorrow'] }, 'except', /2026-12-24/],
  ['too many exceptions', { except: Array(101).fill('2026-12-24') }, 'except', /100/],
  ['an unknown field', { nope: 1 }, 'nope', /nope/],
]

for (const [title, change, field, detail] of refused) {
  test(`refuses ${title}, and stores nothing`, async () => {
    const options = { body: { ...content, ...change }, headers: { accept: 'application/problem+json' } }
    const { status, json } = await api.call('PUT', '/job/api/windows/refused', options)
    const isOfPattern = field === 'cron' || field === 'timeZone'
    assert.deepEqual([status, json.code], [400, isOfPattern ? 'J-507' : 'J-500'], JSON.stringify(json))
    assert.ok(String(json.field).startsWith(field.split('[')[0] ?? ''), json.field)
    assert.match(json.detail, detail)
    assertRefused(await api.call('GET', '/job/api/windows/refused'), 'J-311')
  })
}

test('the window of a job applies to the trigger call, whose response does not change', async (t) => {
  const device = await newDevice(api, 'k1')
  const line = await connectDevice(t, api.server.mqtt, device)
  await put('mornings', content)
  await api.call('PUT', '/job/api/jobs/windowed', { body: { window: 'mornings' } })
  assert.equal((await api.call('GET', '/job/api/jobs/windowed')).json.window, 'mornings')
  const reply = await api.trigger('windowed', ['k1'])
  const [execution] = reply.json
  const plainReply = await api.trigger('plain', ['k1'])
  const shape = (text: string) => text.replace(/\d+/g, '0').replace(/windowed|plain/g, 'job')
  assert.equal(shape(reply.text), shape(plainReply.text))
  assert.equal(execution.execState, 'PENDING')
  const id = execution.jobExecutionId
  const run = await api.call('GET', reply.headers.get('location') as string)
  assert.equal(run.json.window, 'mornings')
  assert.deepEqual(await explain(id), {
    jobExecutionId: id,
    execState: 'PENDING',
    code: 'OUTSIDE_WINDOW',
    text: 'Window mornings is closed; it opens at 2026-11-15T10:00+00:00 where device k1 is (UTC), 2026-11-15T10:00:00Z.',
    since: null,
    until: '2026-11-15T10:00:00.000Z',
    expiresAt: null,
    behind: null,
  })
  // A later execution without the window is offered; the other one is not sent over any transport.
  const plainId = plainReply.json[0].jobExecutionId
  assert.equal((await line.notice(isNext)).execution.jobId, String(plainId))
  assert.deepEqual((await device.startNext()).json.execution.jobId, String(plainId))
  assert.equal((await device.update(plainId, 'SUCCEEDED')).status, 200)
  assert.equal((await device.startNext()).json.execution, undefined)
  const polled = await device.call('GET', '')
  assert.ok(!polled.text.includes(`"${id}"`))
  assert.equal((await device.call('GET', `/${id}`)).status, 404)
  assert.ok(line.notices.every(({ json }) => !JSON.stringify(json).includes(`"${id}"`)))
  const removal = await api.call('DELETE', '/job/api/windows/mornings')
  assert.deepEqual([removal.status, removal.json.code], [409, 'J-315'])
  assert.match(removal.json.message, /: by the job windowed, and by the unfinished run \d+$/)

  // A device that waits over HTTP, and one that is connected, are notified when it opens.
  const waiting = device.call('GET', '?wait=60')
  clock.forward(30 * minuteMs)
  const forwarded = performance.now()
  const isThis = (suffix: string, json: { execution?: { jobId: string } }) =>
    suffix === 'notify-next' && json.execution?.jobId === String(id)
  await line.notice(isThis)
  const ms = Math.round(performance.now() - forwarded)
  t.diagnostic(`notified ${ms} ms after the opening`)
  assert.ok(ms < noticeMs, `${ms} ms`)
  assert.match((await waiting).text, new RegExp(`"${id}"`))
  assert.equal((await explain(id)).code !== 'OUTSIDE_WINDOW', true)
  assert.equal((await device.startNext()).json.execution.jobId, String(id))
  // What runs continues.
  await put('mornings', { ...content, cron: '0 0 29 2 *' })
  assert.equal((await device.update(id, 'IN_PROGRESS')).status, 200)
  assert.equal((await device.update(id, 'SUCCEEDED')).status, 200)
})

test('explain says when it expires: time limits do not run outside the window, or in a frozen fleet', async () => {
  await newDevice(api, 'expiring')
  await put('noons', { ...content, cron: '0 12 * * *' })
  const limits = { expireAfterSeconds: 5400, deadlineSeconds: 86_400 }
  const job = { document: {}, window: 'noons', ...limits }
  assert.equal((await api.call('PUT', '/job/api/jobs/expiring', { body: job })).status, 201)
  const [{ jobExecutionId: id }] = (await api.trigger('expiring', ['expiring'])).json
  const held = await explain(id)
  assert.equal(held.code, 'OUTSIDE_WINDOW')
  assert.match(held.expiresAt, /^2026-11-16T12:30:0\d/)
  assert.match(held.text, / It ends unstarted at 2026-11-16T12:30:0\dZ\.$/)
  const freeze = (body: object) => api.call('POST', '/job/api/fleet/freeze', { body })
  await freeze({ reason: 'holidays', until: '2026-11-20T00:00:00Z' })
  const frozen = await explain(id)
  assert.equal(frozen.code, 'FROZEN')
  assert.match(frozen.expiresAt, /^2026-11-21T12:30:0\d/)
  await freeze({ reason: 'holidays' })
  assert.equal((await explain(id)).expiresAt, null)
  await api.call('DELETE', '/job/api/fleet/freeze')
  await api.call('POST', `/job/api/executions/${id}/cancel`, { body: {} })
})

test("each device is judged in its own zone: its owner's, else the one it reports, else UTC", async () => {
  const ids = ['berlin', 'tokyo', 'mars', 'nowhere']
  const devices = await Promise.all(ids.map((id) => newDevice(api, id)))
  await api.call('PUT', '/job/api/devices/berlin', { body: { timeZone: 'Europe/Berlin' } })
  const report = (index: number, timeZone: string) =>
    api.call('PUT', `/things/${ids[index]}/attributes`, {
      body: { timeZone },
      headers: { authorization: `Bearer ${devices[index]?.token}`, 'x-api-key': '' },
    })
  for (const [index, zone] of [
    [0, 'Asia/Tokyo'],
    [1, 'asia/tokyo'],
    [2, 'Mars/Olympus'],
  ] as const) {
    assert.equal((await report(index, zone)).status, 200)
  }
  // 10:00 in UTC is 11:00 in Berlin and 19:00 in Tokyo.
  const offeredAt = async (hour: number) => {
    await put('own-time', { cron: `0 ${hour} * * *`, durationMinutes: 60, timeZone: 'device' })
    const queues = await Promise.all(devices.map((device) => device.call('GET', '')))
    return ids.filter((_, index) => queues[index]?.json.queuedJobs.length > 0)
  }
  await put('own-time', content)
  const body = { jobName: 'plain', targets: { deviceIds: ids }, window: 'own-time' }
  const run = await api.call('POST', '/job/api/runs', { body })
  assert.deepEqual([run.status, run.json.window], [201, 'own-time'])
  assert.deepEqual(await offeredAt(11), ['berlin'])
  assert.deepEqual(await offeredAt(19), ['tokyo'])
  assert.deepEqual(await offeredAt(10), ['mars', 'nowhere'])
  const { json } = await api.call('GET', `/job/api/executions?runId=${run.json.runId}&deviceId=berlin`)
  const { code, text, until } = await explain(json.items[0].jobExecutionId)
  assert.deepEqual([code, until], ['OUTSIDE_WINDOW', '2026-11-16T09:00:00.000Z'])
  assert.match(
    text,
    /opens at 2026-11-16T10:00\+01:00 where device berlin is \(Europe\/Berlin\), 2026-11-16T09:00:00Z/,
  )
  // Under the name that its owner uses for it.
  await api.call('PUT', '/job/api/devices/berlin', { body: { timeZone: 'Asia/Kolkata' } })
  assert.match((await explain(json.items[0].jobExecutionId)).text, /berlin is \(Asia\/Kolkata\)/)
  await api.call('POST', `/job/api/runs/${run.json.runId}/cancel`, { body: {} })
  assert.equal((await api.call('DELETE', '/job/api/windows/own-time')).status, 204)
})

test('a schedule makes runs under its window, which then cannot be deleted', async () => {
  await newDevice(api, 'scheduled')
  await put('of-schedule', { ...content, cron: '0 0 29 2 *' })
  const path = '/job/api/schedules/under'
  const body = { jobName: 'plain', targets: { deviceIds: ['scheduled'] }, when: { cron: '0 3 1 1 *' } }
  assertRefused(await api.call('PUT', path, { body: { ...body, window: 'nobody' } }), 'J-311')
  const made = await api.call('PUT', path, { body: { ...body, window: 'of-schedule' } })
  assert.deepEqual([made.status, made.json.window], [201, 'of-schedule'])
  const removal = await api.call('DELETE', '/job/api/windows/of-schedule')
  assert.match(removal.json.message, /: by the schedule under$/)
  const fired = await api.call('POST', `${path}/fire`)
  assert.ok(fired.status < 300, fired.text)
  const [run] = (await api.call('GET', '/job/api/runs?scheduleName=under')).json.items
  assert.equal(run.window, 'of-schedule')
  await api.call('POST', `/job/api/runs/${run.runId}/cancel`, { body: {} })
  await api.call('DELETE', path)
  assert.equal((await api.call('DELETE', '/job/api/windows/of-schedule')).status, 204)
})

test('a run may ignore windows with MANAGE and a note, and names only windows that there are', async () => {
  const device = await newDevice(api, 'urgent')
  await put('never', { ...content, cron: '0 0 29 2 *' })
  await api.call('PUT', '/job/api/jobs/careful', { body: { window: 'never' } })
  const create = (more: object, key = api.adminKey) =>
    api.call('POST', '/job/api/runs', {
      key,
      body: { jobName: 'careful', targets: { deviceIds: ['urgent'] }, ...more },
    })
  const { apiKey: key } = await api.newKey(['TRIGGER'])
  assertRefused(await create({ ignoreWindows: true, note: 'leak' }, key), 'J-804', 'MANAGE')
  assertRefused(await create({ ignoreWindows: true }), 'J-500')
  assertRefused(await create({ ignoreWindows: true, note: ' ' }), 'J-500')
  assertRefused(await create({ ignoreWindows: true, note: 'leak', window: 'never' }), 'J-500')
  assertRefused(await create({ window: 'nobody' }), 'J-311')
  assertRefused(await api.call('PUT', '/job/api/jobs/lost', { body: { window: 'nobody' } }), 'J-311')
  const plan = await api.call('POST', '/job/api/runs?dryRun=true', {
    body: { jobName: 'careful', targets: { deviceIds: ['urgent'] }, window: 'nobody' },
  })
  assertRefused(plan, 'J-311')
  const held = await create({})
  assert.equal((await device.startNext()).json.execution, undefined)
  const urgent = await create({ ignoreWindows: true, note: 'leak' })
  assert.deepEqual([urgent.status, urgent.json.window], [201, null])
  const { execution } = (await device.startNext()).json
  assert.equal((await device.update(execution.jobId, 'FAILED')).status, 200)
  const retried = await api.call('POST', `/job/api/runs/${urgent.json.runId}/retry`, { body: {} })
  assert.equal(retried.json.window, 'never', 'as the job says')
  for (const { json } of [held, retried])
    await api.call('POST', `/job/api/runs/${json.runId}/cancel`, { body: {} })
})
