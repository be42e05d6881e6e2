// Memory is bounded for devices that send too much or read too little.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Packet } from 'mqtt-packet'
import type { ReportOutcome } from '../../../src/domain/execution/device-report.ts'
import { document, execution, prefix, queueOf } from './listener-under-test.ts'
import { openConnection } from './stream-under-test.ts'

const nothingPending: ReportOutcome = { kind: 'nothing-pending' }
const startNext = (messageId: number, size = 0): Packet => ({
  cmd: 'publish',
  topic: `${prefix}start-next`,
  payload: JSON.stringify({ filling: 'a'.repeat(size) }),
  qos: 1,
  messageId,
  dup: false,
  retain: false,
})
const subscribe = (topic: string): Packet => ({
  cmd: 'subscribe',
  messageId: 1,
  subscriptions: [{ topic, qos: 1 }],
})
const next = (id: number) =>
  ({ kind: 'next', next: { execution: execution(id), document: { json: document } } }) as const
const settled = () => new Promise((resolve) => setImmediate(resolve))

const tooMuch = {
  packets: { size: 0, taken: 21 },
  bytes: { size: 100_000, taken: 4 },
}
for (const [what, { size, taken }] of Object.entries(tooMuch)) {
  test(`while too many ${what} wait, reading from the connection pauses`, async () => {
    const { backend, stream, send } = await openConnection()
    const commits: PromiseWithResolvers<ReportOutcome>[] = []
    backend.recordReport = () => {
      const commit = Promise.withResolvers<ReportOutcome>()
      commits.push(commit)
      return commit.promise
    }
    for (let id = 1; id < taken; id++) send(startNext(id, size))
    assert.equal(stream.isPaused, false)
    send(startNext(taken, size))
    assert.equal(stream.isPaused, true)
    // What was in progress already is not lost, nor served too early.
    send(startNext(taken + 1, size))
    assert.equal(commits.length, 1)
    for (let served = 0; served <= taken; served++) {
      commits[served]?.resolve(nothingPending)
      await settled()
    }
    assert.equal(stream.isPaused, false)
    const acknowledged = stream.written
      .filter(({ cmd }) => cmd === 'puback')
      .map(({ messageId }) => messageId)
    assert.deepEqual(
      acknowledged,
      Array.from({ length: taken + 1 }, (_, i) => i + 1),
    )
  })
}

test('a held connection is not read until it is released, even if requests are served meanwhile', async () => {
  const { backend, stream, connection, send } = await openConnection()
  const { session } = backend
  session.hold()
  assert.equal(stream.isPaused, true)
  // It was on its way already.
  send(startNext(1))
  await settled()
  assert.deepEqual(stream.written.at(-1)?.messageId, 1)
  assert.equal(stream.isPaused, true)
  session.release()
  assert.equal(stream.isPaused, false)
  session.hold()
  connection.end('stopping')
  assert.equal(stream.isPaused, false, 'what comes after the end is read and dropped')
  session.hold()
  assert.equal(stream.isPaused, false)
})

test('a held and congested connection is not read when it is released', async () => {
  const { backend, stream, connection } = await openConnection()
  stream.isStuck = true
  stream.writableLength = 64 * 1024 + 1
  backend.session.hold()
  backend.session.release()
  assert.equal(stream.isPaused, true)
  stream.writableLength = 0
  connection.drained()
  assert.equal(stream.isPaused, false)
})

test('a device that does not read is not served or notified until it reads', async () => {
  const { backend, stream, connection, send } = await openConnection()
  send(subscribe(`${prefix}#`))
  stream.isStuck = true
  stream.writableLength = 64 * 1024
  assert.equal(backend.session.isReady, true)
  stream.writableLength++
  assert.equal(backend.session.isReady, false)
  send(startNext(1))
  await settled()
  assert.equal(backend.reports.length, 0)
  assert.equal(stream.isPaused, true)

  stream.isStuck = false
  stream.writableLength = 0
  const refreshes = backend.sessions.calls.length
  connection.drained()
  await settled()
  assert.deepEqual(backend.sessions.calls.slice(refreshes), ['refresh'])
  assert.equal(backend.reports.length, 1)
  assert.equal(stream.isPaused, false)
  assert.equal(backend.session.isReady, true)
})

test('requests that wait when the device stops reading are served when it reads again', async () => {
  const { backend, stream, connection, send } = await openConnection()
  const commit = Promise.withResolvers<ReportOutcome>()
  backend.recordReport = () => commit.promise
  send(startNext(1), startNext(2))
  stream.isStuck = true
  stream.writableLength = 64 * 1024
  commit.resolve(nothingPending)
  await settled()
  assert.equal(backend.reports.length, 1)
  stream.isStuck = false
  stream.writableLength = 0
  connection.drained()
  await settled()
  assert.equal(backend.reports.length, 2)
})

test('requests that wait when the device disconnects are served', async () => {
  const { backend, stream, connection, send } = await openConnection()
  const commit = Promise.withResolvers<ReportOutcome>()
  backend.recordReport = () => commit.promise
  send(startNext(1), startNext(2))
  stream.isStuck = true
  stream.writableLength = 64 * 1024
  commit.resolve(nothingPending)
  await settled()
  assert.equal(backend.reports.length, 1)
  stream.writable = false
  connection.closed()
  await settled()
  assert.equal(backend.reports.length, 2)
})

test('notices that belong together are sent together, then no more until the device reads', async () => {
  const { backend, stream, send } = await openConnection()
  send(subscribe(`${prefix}#`))
  stream.isStuck = true
  stream.writableLength = 64 * 1024
  backend.session.send({ kind: 'list', queue: queueOf(1) }, [1])
  backend.session.send(next(1), [1])
  assert.deepEqual(stream.topics, [`${prefix}notify`, `${prefix}notify-next`])
  assert.equal(backend.session.isReady, false)
  stream.writableLength = 1024 * 1024 + 1
  backend.session.send({ kind: 'cancel', jobExecutionId: 1, deadlineSeconds: 0 }, [])
  assert.equal(stream.topics.length, 2)
})

test('gathered notices are sent in one write, in order with other packets', async () => {
  const { backend, stream, send } = await openConnection()
  const { session } = backend
  send(subscribe(`${prefix}#`))
  const writes: number[] = []
  const { write } = stream
  stream.write = (bytes, encoding) => {
    writes.push(bytes.length)
    write.call(stream, bytes, encoding)
  }
  session.gather()
  session.send({ kind: 'list', queue: queueOf(1) }, [1])
  session.send(next(1), [1])
  assert.deepEqual(writes, [])
  session.flush()
  assert.equal(writes.length, 1)
  assert.deepEqual(stream.topics, [`${prefix}notify`, `${prefix}notify-next`])
  session.gather()
  session.send(next(2), [2])
  send({ cmd: 'pingreq' })
  session.flush()
  assert.deepEqual(stream.commands.slice(-2), ['publish', 'pingresp'])
  session.gather()
  session.send(next(3), [3])
  session.close('taken-over')
  assert.equal(stream.publishes.length, 4)
})

test('gathered notices count as waiting', async () => {
  const { backend, stream, send } = await openConnection()
  send(subscribe(`${prefix}#`))
  stream.writableLength = 64 * 1024
  backend.session.gather()
  assert.equal(backend.session.isReady, true)
  backend.session.send(next(1), [1])
  assert.equal(backend.session.isReady, false)
})

test('unacknowledged notices are limited by the receive maximum; further ones have QoS 0', async () => {
  const { backend, stream, send } = await openConnection(5, { receiveMaximum: 2 })
  send(subscribe(`${prefix}notify-next`))
  backend.session.send(next(7), [7])
  assert.equal(backend.session.isReady, true)
  backend.session.send(next(8), [8])
  assert.equal(backend.session.isReady, false)
  backend.session.send(next(9), [9])
  assert.deepEqual(
    stream.publishes.map(({ qos, messageId }) => [qos, messageId]),
    [
      [1, 1],
      [1, 2],
      [0, undefined],
    ],
  )
  const { calls, confirmed } = backend.sessions
  const before = calls.length
  send({ cmd: 'puback', messageId: 2, reasonCode: 0 })
  assert.deepEqual(confirmed, [8])
  assert.deepEqual(calls.slice(before), ['refresh'])
  assert.equal(backend.session.isReady, true)
  send({ cmd: 'puback', messageId: 2, reasonCode: 0 }, { cmd: 'puback', messageId: 1, reasonCode: 0x80 })
  assert.deepEqual(confirmed, [8], 'a second confirmation, and a refusal, confirm nothing')
})

test('MQTT 3.1.1: at most 50 notices are unacknowledged', async () => {
  const { backend, send } = await openConnection()
  send(subscribe(`${prefix}notify`))
  for (let sent = 0; sent < 50; sent++) {
    assert.equal(backend.session.isReady, true)
    backend.session.send({ kind: 'list', queue: queueOf(1) }, [1])
  }
  assert.equal(backend.session.isReady, false)
})

test('packet ids wrap around and skip unacknowledged ones', async () => {
  const { backend, stream, send } = await openConnection()
  send(subscribe(`${prefix}notify`))
  backend.session.send({ kind: 'list', queue: queueOf() }, [])
  for (let sent = 2; sent <= 0xffff; sent++) {
    backend.session.send({ kind: 'list', queue: queueOf() }, [])
    send({ cmd: 'puback', messageId: sent })
  }
  stream.written.length = 0
  backend.session.send({ kind: 'list', queue: queueOf() }, [])
  assert.deepEqual(
    stream.written.map(({ messageId }) => messageId),
    [2],
  )
})
