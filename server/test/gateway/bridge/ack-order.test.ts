import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AckOrder } from '../../../src/gateway/bridge/ack-order.ts'

test('acknowledges in the order of arrival, whichever is on disk first', () => {
  const sent: number[] = []
  const acks = new AckOrder((messageId) => sent.push(messageId))
  const [one, two, three] = [acks.add(7, 100), acks.add(3, 200), acks.add(9, 300)]
  two()
  assert.deepEqual(sent, [])
  assert.equal(acks.oldest, 100)
  one()
  assert.deepEqual(sent, [7, 3])
  assert.equal(acks.oldest, 300)
  two()
  three()
  assert.deepEqual(sent, [7, 3, 9])
  assert.equal(acks.oldest, undefined)
})

test('acknowledges nothing of a connection that is lost', () => {
  const sent: number[] = []
  const acks = new AckOrder((messageId) => sent.push(messageId))
  const done = acks.add(1, 0)
  acks.close()
  done()
  assert.deepEqual(sent, [])
  assert.ok(acks.isClosed)
})
