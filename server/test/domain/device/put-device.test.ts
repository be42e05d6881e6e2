import assert from 'node:assert/strict'
import { test } from 'node:test'
import { putDevice } from '../../../src/domain/device/put-device.ts'

const put = { ownerNo: 1, deviceId: 'd1', deviceName: 'Door', tags: ['a', 'b'], at: 10 }

test('the first put creates a device that was never seen', () => {
  const { now, event } = putDevice(undefined, put)
  assert.equal(event, 'device.created')
  assert.deepEqual(now, {
    ...{ deviceId: 'd1', deviceName: 'Door', tags: ['a', 'b'], createdAt: 10, updatedAt: 10 },
    ...{ credentialCreatedAt: null, credentialCreatedBy: null, certificateRevokedAt: null },
    ...{ attributes: {}, reportedAttributes: {}, window: null },
    presence: { online: false, since: null, lastSeenAt: null, transport: null },
  })
})

const changes: [string, Partial<typeof put>, 'device.updated' | undefined][] = [
  ['the same again', {}, undefined],
  ['another name', { deviceName: 'Gate' }, 'device.updated'],
  ['another tag', { tags: ['a', 'c'] }, 'device.updated'],
  ['a tag less', { tags: ['a'] }, 'device.updated'],
  ['the tags in another order', { tags: ['b', 'a'] }, 'device.updated'],
]
for (const [title, change, expected] of changes) {
  test(`a put of ${title} ${expected ? 'causes' : 'causes no'} event and keeps what it does not name`, () => {
    const before = { ...putDevice(undefined, put).now, credentialCreatedAt: 3 }
    const { now, event } = putDevice(before, { ...put, ...change, at: 20 })
    assert.equal(event, expected)
    const { deviceName = put.deviceName, tags = put.tags } = change
    assert.deepEqual(now, { ...before, deviceName, tags, updatedAt: 20 })
  })
}

test('a put without a window removes it, unless it keeps it', () => {
  const { now } = putDevice(undefined, { ...put, window: 'nights' })
  assert.equal(now.window, 'nights')
  const removed = putDevice(now, put)
  assert.deepEqual([removed.now.window, removed.event], [null, 'device.updated'])
  const kept = putDevice(now, { ...put, keepsWindow: true })
  assert.deepEqual([kept.now.window, kept.event], ['nights', undefined])
})
