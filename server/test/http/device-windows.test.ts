// Windows of devices and groups as callers and devices see them, on one real server whose clock stands still until a test sets it
// forward.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { connectDevice } from '../nodes/connected-device.ts'
import { assertRefused } from './assert-reply.ts'

// Sunday, 2026-11-15, 09:30 in UTC.
const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
await api.putJobAndDevices('plain', [])

const minuteMs = 60_000
const content = { durationMinutes: 60, timeZone: 'UTC' }
const putWindow = (name: string, cron: string) =>
  api.call('PUT', `/job/api/windows/${name}`, { body: { ...content, cron } })
const explain = async (id: number) => (await api.call('GET', `/job/api/executions/${id}/explain`)).json
const putDevice = (id: string, body: object) => api.call('PUT', `/job/api/devices/${id}`, { body })
const putGroup = (name: string, body: object) => api.call('PUT', `/job/api/groups/${name}`, { body })
for (const [name, cron] of [
  ['tens', '0 10 * * *'],
  ['elevens', '0 11 * * *'],
  ['half-elevens', '30 10 * * *'],
  ['never', '0 0 29 2 *'],
] as const) {
  assert.equal((await putWindow(name, cron)).status, 201)
}

test('a device and a group have a window, which must be there', async () => {
  const made = await putDevice('fields', { window: 'tens' })
  assert.deepEqual([made.status, made.json.window], [201, 'tens'])
  assertRefused(await putDevice('fields', { window: 'nobody' }), 'J-311')
  assertRefused(await putDevice('unborn', { window: 'nobody' }), 'J-311')
  assert.equal((await api.call('GET', '/job/api/devices/unborn')).status, 404)
  const patch = (body: object) => api.call('PATCH', '/job/api/devices/fields', { body })
  assertRefused(await patch({ window: 'nobody' }), 'J-311')
  assert.equal((await patch({ tags: ['a'] })).json.window, 'tens')
  const changed = await api.call('POST', '/job/api/devices/change', {
    body: { deviceIds: ['fields'], addTags: ['b'] },
  })
  assert.deepEqual([changed.status, changed.json.changed], [200, 1])
  const { json: kept, headers } = await api.call('GET', '/job/api/devices/fields')
  assert.deepEqual([kept.window, kept.tags], ['tens', ['a', 'b']])
  const other = await patch({ window: 'elevens' })
  assert.equal(other.json.window, 'elevens')
  assert.notEqual(other.headers.get('etag'), headers.get('etag'))
  const lines = ['{"deviceId":"fields","window":"tens"}', '{"deviceId":"lost","window":"nobody"}'].join('\n')
  const importLines = (body: string, type: string) =>
    api.call('POST', '/job/api/devices/import', { rawBody: body, headers: { 'content-type': type } })
  const imported = await importLines(lines, 'application/x-ndjson')
  assert.deepEqual([imported.json.updated, imported.json.failed[0].code], [1, 'J-311'])
  await importLines('deviceId,site\nfields,berlin\n', 'text/csv')
  assert.equal((await api.call('GET', '/job/api/devices/fields')).json.window, 'tens')
  assert.equal((await patch({ window: null })).json.window, null)

  assertRefused(await putGroup('g', { where: 'all', window: 'nobody' }), 'J-311')
  const group = await putGroup('g', { where: 'tag=nothing', window: 'tens' })
  assert.deepEqual([group.status, group.json.window], [201, 'tens'])
  assert.equal((await putGroup('g', { where: 'tag=nothing' })).json.window, null)
})

test('explain and the plan name the windows that are closed, and until when', async () => {
  for (const id of ['kiosk', 'other']) await newDevice(api, id)
  await putDevice('kiosk', { tags: ['kiosk'], window: 'tens' })
  await putGroup('kiosks', { where: 'tag=kiosk', window: 'half-elevens' })
  const [{ jobExecutionId: id }] = (await api.trigger('plain', ['kiosk'])).json
  const { code, text, until } = await explain(id)
  assert.deepEqual([code, until], ['OUTSIDE_WINDOW', '2026-11-15T10:30:00.000Z'])
  const opens = (time: string) =>
    `it opens at 2026-11-15T${time}+00:00 where device kiosk is (UTC), 2026-11-15T${time}:00Z.`
  const sentences = [
    `Window tens of the device is closed; ${opens('10:00')}`,
    `Window half-elevens of group kiosks is closed; ${opens('10:30')}`,
  ]
  for (const sentence of sentences) assert.ok(text.includes(sentence), text)
  assert.match(text, / All of them are open from 2026-11-15T10:30:00Z on\.$/)
  const plan = async (more: object) => {
    const body = { jobName: 'plain', targets: { deviceIds: ['kiosk', 'other'] }, ...more }
    const { json } = await api.call('POST', '/job/api/runs?dryRun=true', { body })
    return json.holds.map((hold: { code: string; text: string; until: string }) => [
      ...[hold.code, hold.until, hold.text.split(';')[0]],
    ])
  }
  assert.deepEqual(await plan({}), [
    ['OUTSIDE_WINDOW', '2026-11-15T10:30:00.000Z', 'Window half-elevens is closed for 1 of 2 devices'],
    ['OUTSIDE_WINDOW', '2026-11-15T10:00:00.000Z', 'Window tens is closed for 1 of 2 devices'],
  ])
  assert.deepEqual(await plan({ ignoreWindows: true, note: 'leak' }), [])
  await api.call('POST', `/job/api/executions/${id}/cancel`, { body: {} })
})

test('a window that devices and groups use is not deleted: the answer names them', async () => {
  await putWindow('used', '0 3 * * *')
  for (let each = 0; each < 7; each++) await putDevice(`user-${each}`, { window: 'used' })
  await putGroup('users', { where: 'tag=nothing', window: 'used' })
  const removal = await api.call('DELETE', '/job/api/windows/used')
  assert.deepEqual([removal.status, removal.json.code], [409, 'J-315'])
  assert.match(
    removal.json.message,
    /: by the group users, and by the 7 devices user-0, user-1, user-2, user-3, user-4 and others$/,
  )
  await api.call('DELETE', '/job/api/groups/users')
  for (let each = 0; each < 7; each++) await api.call('DELETE', `/job/api/devices/user-${each}`)
  assert.equal((await api.call('DELETE', '/job/api/windows/used')).status, 204)
})

test('a run that ignores windows ignores those of devices; others reach the device when all are open', async (t) => {
  const device = await newDevice(api, 'held')
  const line = await connectDevice(t, api.server.mqtt, device)
  await putDevice('held', { tags: ['held'], window: 'tens' })
  await putGroup('all-held', { where: 'tag=held and online', window: 'tens' })
  const [{ jobExecutionId: id }] = (await api.trigger('plain', ['held'])).json
  assert.equal((await device.startNext()).json.execution, undefined)
  assert.equal((await device.call('GET', `/${id}`)).status, 404)
  const body = { jobName: 'plain', targets: { deviceIds: ['held'] }, ignoreWindows: true, note: 'leak' }
  const urgent = await api.call('POST', '/job/api/runs', { body })
  assert.deepEqual([urgent.status, urgent.json.window], [201, null])
  const { execution } = (await device.startNext()).json
  assert.notEqual(execution.jobId, String(id))
  assert.equal((await device.update(execution.jobId, 'SUCCEEDED')).status, 200)
  assert.ok(line.notices.every(({ json }) => !JSON.stringify(json).includes(`"${id}"`)))
  clock.forward(30 * minuteMs)
  await line.notice((suffix, json) => suffix === 'notify-next' && json.execution?.jobId === String(id))
  assert.equal((await device.startNext()).json.execution.jobId, String(id))
  // What runs continues.
  await putDevice('held', { window: 'never' })
  assert.equal((await device.update(id, 'SUCCEEDED')).status, 200)
})
