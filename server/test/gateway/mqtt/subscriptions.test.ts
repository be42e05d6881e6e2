// A device may only subscribe to its own topics.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ISubackPacket, IUnsubackPacket } from 'mqtt-packet'
import { openListener, prefix } from './listener-under-test.ts'
import { openDevice } from './raw-device.ts'

const granted = [
  'notify',
  'notify-next',
  '#',
  '+',
  'get/+',
  'get/accepted',
  'start-next/+',
  '$next/get/+',
  '12/get/+',
  '12/update/+',
  '+/update/accepted',
  '+/+/rejected',
  '12/#',
]
for (const suffix of granted) {
  test(`grants ${prefix}${suffix}, with QoS 1 at most`, async (t) => {
    const device = await openDevice(t, await openListener(t), 5)
    const topic = prefix + suffix
    const subscriptions = ([0, 1, 2] as const).map((qos) => ({ topic, qos }))
    device.send({ cmd: 'subscribe', messageId: 7, subscriptions })
    const suback = (await device.next()) as ISubackPacket
    assert.equal(suback.messageId, 7)
    assert.deepEqual(suback.granted, [0, 1, 1])
  })
}

const refused: [string, number][] = [
  ['$aws/things/d2/jobs/notify', 0x87],
  ['$aws/things/d12/jobs/notify', 0x87],
  ['$aws/things/+/jobs/notify', 0x87],
  ['$aws/things/d1/#', 0x87],
  ['$aws/things/d1/jobs', 0x87],
  ['$aws/#', 0x87],
  ['#', 0x87],
  ['+/things/d1/jobs/notify', 0x87],
  ['$SYS/broker/uptime', 0x87],
  ['$share/group/$aws/things/d1/jobs/notify', 0x9e],
  [`${prefix}a/#/b`, 0x8f],
  [`${prefix}a#`, 0x8f],
  [`${prefix}+a/get`, 0x8f],
  [`${prefix}${'a'.repeat(257)}`, 0x8f],
  ['', 0x8f],
]
for (const [filter, code] of refused) {
  test(`refuses the filter '${filter.slice(0, 60)}'`, async (t) => {
    const listener = await openListener(t)
    const v5 = await openDevice(t, listener, 5)
    assert.deepEqual(((await v5.subscribe(filter)) as ISubackPacket).granted, [code])
    const v4 = await openDevice(t, listener, 4)
    assert.deepEqual(((await v4.subscribe(filter)) as ISubackPacket).granted, [0x80])
    assert.deepEqual(listener.backend.session.wants, { list: false, next: false, cancel: false })
  })
}

test('grants 200 filters, and those that are granted already', async (t) => {
  const device = await openDevice(t, await openListener(t), 5)
  const filters = Array.from({ length: 201 }, (_, i) => `${prefix}${i}/get/+`)
  const suback = (await device.subscribe(...filters, filters[0] as string)) as ISubackPacket
  assert.deepEqual(suback.granted, [...Array(200).fill(1), 0x97, 1])
})

const wants: Record<string, string> = {
  notify: 'list',
  'notify-next': 'next',
  '12/cancel': 'cancel',
  '+/cancel': 'cancel',
  '12/+': 'cancel',
  '+': 'list next',
  '#': 'list next cancel',
  '12/#': 'cancel',
  'notify/#': 'list',
  'get/+': '',
  'start-next/+': '',
  '12/get/+': '',
}
for (const [suffix, wanted] of Object.entries(wants)) {
  test(`who subscribes to ${suffix} wants ${wanted || 'no notices'}`, async (t) => {
    const listener = await openListener(t)
    const device = await openDevice(t, listener)
    await device.subscribe(prefix + suffix)
    const { session, sessions } = listener.backend
    const names = Object.entries(session.wants).filter(([, wants]) => wants)
    assert.equal(names.map(([name]) => name).join(' '), wanted)
    assert.deepEqual(sessions.calls, wanted === '' ? ['open'] : ['open', 'greet'])
    await device.subscribe(prefix + suffix)
    assert.equal(sessions.calls.length, wanted === '' ? 1 : 2, 'nothing new is wanted the second time')
  })
}

for (const version of [4, 5] as const) {
  test(`MQTT ${version}: unsubscribes`, async (t) => {
    const listener = await openListener(t)
    const device = await openDevice(t, listener, version)
    await device.subscribe(`${prefix}notify`)
    const unsubscriptions = [`${prefix}notify`, `${prefix}notify`, 'elsewhere']
    device.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions })
    const unsuback = (await device.next()) as IUnsubackPacket
    assert.equal(unsuback.messageId, 9)
    assert.deepEqual(unsuback.granted, version === 5 ? [0, 0x11, 0x11] : undefined)
    assert.equal(listener.backend.session.wants.list, false)
  })
}
