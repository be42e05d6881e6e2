import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AckOrder } from '../../../src/gateway/bridge/ack-order.ts'
import { type Outgoing, OutgoingQueue } from '../../../src/gateway/bridge/outgoing.ts'

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

test('sends no more than the window, and says when there is room again', async () => {
  const inFlight: (() => void)[] = []
  let rooms = 0
  const queue = new OutgoingQueue({
    send: () => new Promise((resolve) => inFlight.push(() => resolve(true))),
    onRefused: () => assert.fail(),
    onRoom: () => rooms++,
  })
  const message: Outgoing = { topic: 'a', payload: 'b' }
  assert.ok(!queue.hasRoom, 'there is no connection')
  for (let i = 0; i < 600; i++) queue.push(message)
  queue.open(20)
  assert.equal(inFlight.length, 20)
  assert.ok(!queue.hasRoom)
  assert.equal(rooms, 0)
  while (inFlight.length > 0) {
    inFlight.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(inFlight.length <= 20)
  }
  assert.ok(queue.hasRoom)
  assert.equal(rooms, 1)
  assert.equal(queue.sent, 600)
})

test('drops what a broker that takes nothing would make grow without end', () => {
  const queue = new OutgoingQueue({
    send: () => new Promise(() => undefined),
    onRefused: () => undefined,
    onRoom: () => undefined,
  })
  const payload = 'x'.repeat(1024 * 1024)
  for (let i = 0; i < 50; i++) queue.push({ topic: 'a', payload })
  assert.ok(queue.dropped > 20)
  assert.ok(queue.size < 30)
})

test('goes on after a message that the broker refuses', async () => {
  const refused: string[] = []
  const queue = new OutgoingQueue({
    send: async ({ topic }) => {
      if (topic === 'bad') throw new Error('Not authorized')
      return true
    },
    onRefused: ({ topic }, error) => refused.push(`${topic}: ${(error as Error).message}`),
    onRoom: () => undefined,
  })
  queue.open(1)
  for (const topic of ['good', 'bad', 'good']) queue.push({ topic, payload: '' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(refused, ['bad: Not authorized'])
  assert.equal(queue.sent, 2)
  assert.equal(queue.size, 0)
})
