// Notices for connected devices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceNotice } from '../../../src/domain/device/ports/device-link.ts'
import { noticeJson } from '../../../src/gateway/mqtt/notice-message.ts'
import { momentAt } from '../../store/store-under-test.ts'
import { deviceId, document, execution, openListener, prefix, queueOf } from './listener-under-test.ts'
import { openDevice } from './raw-device.ts'

const timestamp = 1_700_000_000
const summary = { jobId: '12', queuedAt: 1000, lastUpdatedAt: 1000, versionNumber: 1, executionNumber: 1 }
const next = { execution: execution(12), document: { json: document } }

const notices: [DeviceNotice, string, unknown][] = [
  [{ kind: 'list', queue: queueOf(12) }, 'notify', { timestamp, jobs: { QUEUED: [summary] } }],
  [{ kind: 'list', queue: queueOf() }, 'notify', { timestamp, jobs: {} }],
  [
    { kind: 'next', next },
    'notify-next',
    {
      timestamp,
      execution: {
        ...summary,
        thingName: deviceId,
        status: 'QUEUED',
        statusDetails: {},
        jobDocument: JSON.parse(document),
      },
    },
  ],
  [{ kind: 'next', next: undefined }, 'notify-next', { timestamp }],
  [
    { kind: 'cancel', jobExecutionId: 12, deadlineSeconds: 60 },
    '12/cancel',
    { timestamp, deadlineSeconds: 60 },
  ],
]
test('the name of a device may contain characters that JSON escapes', () => {
  for (const name of ['plain', 'a "quoted" one', 'back\\slash', 'déjà vu 🚀']) {
    const json = noticeJson({ kind: 'next', next }, name, momentAt(timestamp * 1000))
    assert.equal(JSON.parse(json).execution.thingName, name)
  }
})

for (const version of [4, 5] as const) {
  for (const [notice, suffix, json] of notices) {
    const title = `${notice.kind}${'next' in notice && !notice.next ? ' of nothing' : ''}`
    test(`MQTT ${version}: tells ${title} with the QoS that was granted`, async (t) => {
      const listener = await openListener(t)
      const device = await openDevice(t, listener, version)
      for (const qos of [0, 1] as const) {
        device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: prefix + suffix, qos }] })
        await device.next()
        listener.backend.session.send(notice, [12])
        const told = await device.nextPublish()
        assert.equal(told.topic, prefix + suffix)
        assert.deepEqual(told.json, json)
        assert.equal(told.qos, qos)
        if (qos === 1) device.send({ cmd: 'puback', messageId: told.messageId, reasonCode: 0 })
      }
      device.send({ cmd: 'pingreq' })
      await device.next()
      assert.deepEqual(listener.backend.sessions.confirmed, [12])
    })
  }
}

test('sends no notices without a subscription', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener)
  await device.subscribe(`${prefix}13/cancel`)
  for (const [notice] of notices) listener.backend.session.send(notice, [])
  device.send({ cmd: 'pingreq' })
  assert.equal((await device.next())?.cmd, 'pingresp')
})

test('a session has its device, its transport, and when the device was last seen', async (t) => {
  const listener = await openListener(t)
  await openDevice(t, listener)
  const { session } = listener.backend
  const { ownerNo, deviceId: id, tokenId } = session.device
  assert.deepEqual([ownerNo, id], [1, deviceId])
  assert.ok(tokenId)
  assert.equal(session.transport, 'mqtt')
  assert.equal(session.lastSeenAt, 1_700_000_000_000)
})
