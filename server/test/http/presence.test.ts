// Presence of devices, with time and transport.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
type Device = {
  deviceId: string
  online: boolean
  since: string | null
  lastSeenAt: string
  transport: string
}
const read = async (deviceId: string): Promise<Device> =>
  (await api.call('GET', `/job/api/devices/${deviceId}`)).json
const list = async (query: string): Promise<string[]> =>
  (await api.call('GET', `/job/api/devices?${query}`)).json.items.map((each: Device) => each.deviceId)
const instant = () => new Date(clock.now()).toISOString()

test('a device that was never seen is offline with since null', async () => {
  await newDevice(api, 'new')
  const { online, since, lastSeenAt, transport } = await read('new')
  assert.deepEqual([online, since, lastSeenAt, transport], [false, null, null, null])
})

test('a request makes a device online at once; later ones show in lastSeenAt', async () => {
  const device = await newDevice(api, 'd1')
  await device.call('GET', '')
  const since = instant()
  assert.deepEqual(
    await read('d1').then(({ online, since, lastSeenAt, transport }) => [
      online,
      since,
      lastSeenAt,
      transport,
    ]),
    [true, since, since, 'http'],
  )
  clock.forward(20_000)
  await device.startNext()
  const later = await read('d1')
  assert.deepEqual([later.since, later.lastSeenAt], [since, instant()])
  const [listed] = (await api.call('GET', '/job/api/devices?online=true')).json.items
  assert.deepEqual(listed, later)
})

test('a refused request does not make a device online', async () => {
  const [one, two] = [await newDevice(api, 'one'), await newDevice(api, 'two')]
  await api.call('GET', '/things/two/jobs', { headers: { authorization: `Bearer ${one.token}` } })
  await api.call('GET', '/things/two/jobs', { headers: { authorization: `Bearer ${two.token}x` } })
  assert.deepEqual([(await read('one')).online, (await read('two')).online], [false, false])
})

test('?online= finds online and offline devices, also with a tag', async () => {
  await api.call('PUT', '/job/api/devices/tagged-1', { body: { tags: ['hall'] } })
  const { json } = await api.call('POST', '/job/api/devices/tagged-1/credential')
  await api.call('PUT', '/job/api/devices/tagged-2', { body: { tags: ['hall'] } })
  const headers = { authorization: `Bearer ${json.deviceToken}` }
  await api.call('GET', '/things/tagged-1/jobs', { headers })
  assert.ok((await list('online=true')).includes('tagged-1'))
  assert.ok(!(await list('online=true')).includes('tagged-2'))
  assert.deepEqual(await list('online=true&tag=hall'), ['tagged-1'])
  assert.deepEqual(await list('online=false&tag=hall'), ['tagged-2'])
  assert.deepEqual(await list('tag=hall'), ['tagged-1', 'tagged-2'])
})

test('PUT of an online device does not change its presence', async () => {
  const device = await newDevice(api, 'd2')
  await device.call('GET', '')
  await read('d2')
  const replaced = await api.call('PUT', '/job/api/devices/d2', { body: { deviceName: 'Another' } })
  assert.equal(replaced.json.online, true)
  assert.deepEqual((await api.call('GET', '/job/api/devices/d2')).json, replaced.json)
})

for (const query of ['online=yes', 'online=1', 'online=', 'online=true&online=false']) {
  test(`answers J-500 to ?${query}`, async () => {
    assertRefused(await api.call('GET', `/job/api/devices?${query}`), 'J-500')
  })
}
