import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prefix, queueOf } from './listener-under-test.ts'
import { openConnection } from './stream-under-test.ts'

test('a device that reads nothing for 30 s gets a DISCONNECT, and is cut off within three seconds', async () => {
  const { backend, stream, connection, connections, send } = await openConnection(5)
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      backend.clock += 1000
      connections.now = backend.deps.moment()
      connection.checkTime()
    }
  }
  send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: `${prefix}notify`, qos: 1 }] })
  pass(1)
  stream.isStuck = true
  backend.session.send({ kind: 'list', queue: queueOf(1) }, [1])
  pass(30)
  stream.writableLength -= 1
  pass(30)
  assert.ok(stream.writable, 'it has read a byte meanwhile')
  pass(2)
  assert.equal(stream.writable, false)
  assert.equal(stream.isDestroyed, false)
  pass(3)
  assert.equal(stream.isDestroyed, true)
  connection.closed()
  assert.equal((await backend.event('device-disconnected')).reason, 'too-slow')
})
