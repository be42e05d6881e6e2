// What a device publishes, how it is acknowledged, and what it is answered.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IPubackPacket } from 'mqtt-packet'
import { StorageUnavailable, TooMuchWaiting } from '../../../src/domain/common/ports/storage-errors.ts'
import type { ReportOutcome } from '../../../src/domain/execution/device-report.ts'
import { deviceId, document, execution, openListener, prefix, queueOf } from './listener-under-test.ts'
import { openDevice } from './raw-device.ts'

const timestamp = 1_700_000_000
const nothingPending: ReportOutcome = { kind: 'nothing-pending' }

test('the response to get has pending executions and the clientToken', async (t) => {
  const listener = await openListener(t)
  listener.backend.queue = queueOf(12)
  const device = await openDevice(t, listener)
  await device.subscribe(`${prefix}get/+`)
  device.publish(`${prefix}get`, { clientToken: 'c' })
  const { topic, json, qos } = await device.nextPublish()
  assert.equal(topic, `${prefix}get/accepted`)
  assert.equal(qos, 1)
  const summary = { jobId: '12', queuedAt: 1000, lastUpdatedAt: 1000, versionNumber: 1, executionNumber: 1 }
  assert.deepEqual(json, { inProgressJobs: [], queuedJobs: [summary], timestamp, clientToken: 'c' })
})

test('start-next is answered with the execution and its document, as an object', async (t) => {
  const listener = await openListener(t)
  const started = execution(12, { execState: 'IN_PROGRESS', startedAt: 1_000_000, versionNumber: 2 })
  listener.backend.recordReport = async () => ({ kind: 'done', execution: started, moved: undefined })
  const device = await openDevice(t, listener, 5)
  await device.subscribe(`${prefix}start-next/accepted`)
  device.publish(`${prefix}start-next`, {}, 3)
  assert.equal((await device.next())?.cmd, 'puback')
  const { json } = await device.nextPublish()
  assert.deepEqual((json.execution as { jobDocument: unknown }).jobDocument, JSON.parse(document))
})

test('an empty payload is an empty request', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener)
  await device.subscribe(`${prefix}#`)
  device.publish(`${prefix}$next/get`, '')
  assert.deepEqual((await device.nextPublish()).json, { timestamp })
})

const rejected: [string, string, unknown, string, string | undefined][] = [
  ['a topic that names no operation', '12/shout', { clientToken: 'c' }, 'InvalidTopic', 'c'],
  ['a topic of ours', 'notify', {}, 'InvalidTopic', undefined],
  ['a topic that names no operation, and no JSON', 'notify', 'x', 'InvalidTopic', undefined],
  ['what is not JSON', 'get', '{', 'InvalidJson', undefined],
  ['what is not UTF-8', 'get', Buffer.from([0x22, 0xff, 0x22]), 'InvalidJson', undefined],
  ['JSON that is no object', 'get', '[]', 'InvalidRequest', undefined],
  ['a clientToken that is no text', 'get', { clientToken: 1 }, 'InvalidRequest', undefined],
  ['an unknown status', '12/update', { status: 'DONE', clientToken: 'c' }, 'InvalidRequest', 'c'],
  ['an unknown execution', '12/get', { clientToken: 'c' }, 'ResourceNotFound', 'c'],
  ['a jobId that is not ours', 'firmware-7/get', {}, 'ResourceNotFound', undefined],
]
for (const [title, suffix, payload, code, clientToken] of rejected) {
  test(`${title} is acknowledged, then rejected with ${code}`, async (t) => {
    const device = await openDevice(t, await openListener(t))
    await device.subscribe(`${prefix}#`)
    device.publish(prefix + suffix, payload, 5)
    assert.deepEqual(await acknowledgement(device), { messageId: 5, reasonCode: undefined })
    const { topic, json } = await device.nextPublish()
    assert.equal(topic, `${prefix}${suffix}/rejected`)
    assert.equal(json.code, code)
    assert.equal(json.clientToken, clientToken)
    assert.equal(json.timestamp, timestamp)
  })
}

test('attributes are reported to the shadow, which supports nothing else', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener)
  const shadow = `$aws/things/${deviceId}/shadow/`
  await device.subscribe(`${shadow}update/+`)
  const reported = { fw: '2.4.1', beta: null }
  device.publish(`${shadow}update`, { state: { reported }, clientToken: 'c' }, 5)
  assert.deepEqual(await acknowledgement(device), { messageId: 5, reasonCode: undefined })
  const { topic, json } = await device.nextPublish()
  assert.equal(topic, `${shadow}update/accepted`)
  assert.deepEqual(json, { state: { reported }, timestamp, clientToken: 'c' })
  assert.deepEqual(
    listener.backend.attributeReports.map(({ changes }) => changes),
    [reported],
  )
  for (const wrong of [
    { state: { reported: { 'a b': 1 } } },
    { state: { reported: { a: [] } } },
    { state: {} },
  ]) {
    device.publish(`${shadow}update`, { ...wrong, clientToken: 'w' })
    const answer = await device.nextPublish()
    assert.equal(answer.topic, `${shadow}update/rejected`)
    assert.deepEqual([answer.json.code, answer.json.clientToken], [400, 'w'])
  }
  await device.subscribe(`${shadow}get/+`)
  device.publish(`${shadow}get`, {})
  assert.equal((await device.nextPublish()).topic, `${shadow}get/rejected`)
  assert.equal(listener.backend.attributeReports.length, 1)
})

test('the response to a refused report has the state of the execution', async (t) => {
  const listener = await openListener(t)
  const ended = execution(12, { execState: 'SUCCEEDED', versionNumber: 3 })
  listener.backend.recordReport = async () => ({ kind: 'wrong-state', execution: ended })
  const device = await openDevice(t, listener)
  await device.subscribe(`${prefix}+/update/rejected`)
  device.publish(`${prefix}12/update`, { status: 'FAILED' })
  const { json } = await device.nextPublish()
  assert.equal(json.code, 'InvalidStateTransition')
  assert.deepEqual(json.executionState, { status: 'SUCCEEDED', statusDetails: {}, versionNumber: 3 })
})

test('output is accepted with the next offset, and a gap is rejected with it', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener)
  await device.subscribe(`${prefix}12/output/+`)
  listener.backend.recordReport = async () => ({ kind: 'output-kept', length: 5, cut: false, runId: 1 })
  device.publish(`${prefix}12/output`, { offset: 0, data: 'hello' })
  const kept = await device.nextPublish()
  assert.deepEqual([kept.topic, kept.json.offset], [`${prefix}12/output/accepted`, 5])
  listener.backend.recordReport = async () => ({ kind: 'output-gap', length: 5 })
  device.publish(`${prefix}12/output`, { offset: 9, data: '!' })
  const gap = await device.nextPublish()
  assert.deepEqual([gap.topic, gap.json.offset], [`${prefix}12/output/rejected`, 5])
})

test('responses are sent to the requesting connection, and only if it has subscribed', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener)
  await device.subscribe(`${prefix}start-next/accepted`)
  device.publish(`${prefix}get`)
  device.publish(`${prefix}start-next`)
  assert.equal((await device.nextPublish()).topic, `${prefix}start-next/accepted`)
})

test('an answer has the QoS of the subscription, the highest if there are several', async (t) => {
  const device = await openDevice(t, await openListener(t))
  device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: `${prefix}get/+`, qos: 0 }] })
  await device.next()
  device.publish(`${prefix}get`)
  assert.equal((await device.nextPublish()).qos, 0)
  await device.subscribe(`${prefix}#`)
  device.publish(`${prefix}get`)
  assert.equal((await device.nextPublish()).qos, 1)
})

for (const version of [4, 5] as const) {
  test(`MQTT ${version}: a report is acknowledged after the commit, not before`, async (t) => {
    const listener = await openListener(t)
    const commit = Promise.withResolvers<ReportOutcome>()
    const begun = Promise.withResolvers<void>()
    listener.backend.recordReport = () => {
      begun.resolve()
      return commit.promise
    }
    const device = await openDevice(t, listener, version)
    device.publish(`${prefix}start-next`, {}, 3)
    await begun.promise
    device.send({ cmd: 'pingreq' })
    assert.equal((await device.next())?.cmd, 'pingresp', 'a ping does not wait, and nothing else has come')
    commit.resolve(nothingPending)
    assert.equal((await acknowledgement(device)).messageId, 3)
  })

  const failures: [string, Error, string, number][] = [
    ['the store is unavailable', new StorageUnavailable('disk'), 'InternalError', 0x83],
    ['too much is waiting', new TooMuchWaiting(), 'RequestThrottled', 0x97],
    ['there is a bug', new Error('a bug'), 'InternalError', 0x83],
  ]
  for (const [title, error, code, reasonCode] of failures) {
    test(`MQTT ${version}: while ${title}, a report is rejected with ${code} and not acknowledged`, async (t) => {
      const listener = await openListener(t)
      const device = await openDevice(t, listener, version)
      await device.subscribe(`${prefix}#`)
      listener.backend.recordReport = () => Promise.reject(error)
      device.publish(`${prefix}start-next`, { clientToken: 'c' }, 3)
      if (version === 5) assert.deepEqual(await acknowledgement(device), { messageId: 3, reasonCode })
      const { topic, json } = await device.nextPublish()
      assert.equal(topic, `${prefix}start-next/rejected`)
      assert.deepEqual([json.code, json.clientToken], [code, 'c'])
      assert.ok(!JSON.stringify(json).includes(error.message))
      const failed = listener.backend.events.filter(({ kind }) => kind === 'device-request-failed')
      assert.equal(failed.length, title === 'there is a bug' ? 1 : 0)
      listener.backend.recordReport = async () => nothingPending
      device.publish(`${prefix}start-next`, {}, 4)
      assert.equal((await acknowledgement(device)).messageId, 4)
    })
  }
}

test('requests are served in the order of arrival, one at a time', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener)
  let inFlight = 0
  listener.backend.recordReport = async () => {
    inFlight++
    // Packets behind this one are read meanwhile.
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(inFlight--, 1)
    return nothingPending
  }
  const ids = Array.from({ length: 100 }, (_, i) => i + 1)
  for (const id of ids) device.publish(`${prefix}start-next`, { statusDetails: { id: `${id}` } }, id)
  for (const id of ids) assert.equal((await acknowledgement(device)).messageId, id)
  const served = listener.backend.reports.map(
    (report) => 'statusDetails' in report && report.statusDetails?.id,
  )
  assert.deepEqual(served, ids.map(String))
})

test('a topic of another device: MQTT 3.1.1 closes, MQTT 5 says that it may not', async (t) => {
  const listener = await openListener(t)
  const v5 = await openDevice(t, listener, 5)
  v5.publish('$aws/things/d2/jobs/get', {}, 3)
  assert.deepEqual(await acknowledgement(v5), { messageId: 3, reasonCode: 0x87 })
  v5.publish('$aws/things/d2/jobs/get', {})
  v5.publish(`${prefix}get`, {}, 4)
  assert.equal((await acknowledgement(v5)).messageId, 4)
  const v4 = await openDevice(t, listener, 4)
  v4.publish('$aws/things/d2/jobs/start-next', {}, 3)
  assert.deepEqual(await v4.packetsUntilClosed(), [])
  assert.deepEqual(listener.backend.reports, [])
  await listener.backend.event('device-disconnected', ({ reason }) => reason === 'not-authorized')
})

test('requests sent before a disconnect are served', async (t) => {
  const listener = await openListener(t)
  const commit = Promise.withResolvers<ReportOutcome>()
  const begun = Promise.withResolvers<void>()
  listener.backend.recordReport = () => {
    begun.resolve()
    return commit.promise
  }
  const device = await openDevice(t, listener)
  device.publish(`${prefix}start-next`)
  device.publish(`${prefix}start-next`)
  await begun.promise
  device.socket.end()
  await listener.backend.event('device-disconnected', ({ reason }) => reason === 'connection-lost')
  commit.resolve(nothingPending)
  await listener.stop()
  assert.equal(listener.backend.reports.length, 2)
})

test('DISCONNECT follows packets that were sent before it', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener, 5)
  device.publish(`${prefix}start-next`, {}, 3)
  device.send({ cmd: 'disconnect', reasonCode: 0 })
  assert.deepEqual(
    (await device.packetsUntilClosed()).map(({ cmd }) => cmd),
    ['puback'],
  )
  const { reason } = await listener.backend.event('device-disconnected')
  assert.equal(reason, 'disconnected')
})

test('a response larger than the maximum packet size of the device is omitted', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener, 5, { properties: { maximumPacketSize: 120 } })
  await device.subscribe(`${prefix}#`)
  listener.backend.queue = queueOf(1, 2, 3)
  device.publish(`${prefix}get`, {}, 3)
  assert.equal((await acknowledgement(device)).messageId, 3)
  listener.backend.queue = queueOf()
  device.publish(`${prefix}$next/get`)
  assert.equal((await device.nextPublish()).topic, `${prefix}$next/get/accepted`)
})

test('a response whose topic would be too long is omitted', async (t) => {
  const device = await openDevice(t, await openListener(t))
  await device.subscribe(`${prefix}#`)
  device.publish(prefix + 'a'.repeat(65_530 - prefix.length), {}, 3)
  assert.equal((await acknowledgement(device)).messageId, 3)
  device.publish(`${prefix}get`)
  assert.equal((await device.nextPublish()).topic, `${prefix}get/accepted`)
})

test(`the topics of ${deviceId} contain its id unchanged`, async (t) => {
  const listener = await openListener(t)
  listener.backend.findDevice = async () => ({ ownerNo: 1, deviceId: 'Kiosk 1, Köln' })
  const device = await openDevice(t, listener, 4, { username: 'Kiosk 1, Köln' })
  await device.subscribe('$aws/things/Kiosk 1, Köln/jobs/get/accepted')
  device.publish('$aws/things/Kiosk 1, Köln/jobs/get')
  assert.equal((await device.nextPublish()).topic, '$aws/things/Kiosk 1, Köln/jobs/get/accepted')
})

async function acknowledgement(device: { next: () => Promise<unknown> }) {
  const { cmd, messageId, reasonCode } = (await device.next()) as IPubackPacket
  assert.equal(cmd, 'puback')
  return { messageId, reasonCode }
}
