// Messages to the broker: how many are sent unacknowledged, how many wait, and what a lost connection or a refusal does.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Outgoing, OutgoingQueue } from '../../../src/gateway/bridge/outgoing.ts'

function openQueue(send: (message: Outgoing) => Error | undefined = () => undefined) {
  const sent: { topic: string; packetId: number; isRepeated: boolean }[] = []
  const refused: string[] = []
  const told = { rooms: 0 }
  const queue = new OutgoingQueue({
    send(message, packetId, isRepeated) {
      const error = send(message)
      if (error === undefined) sent.push({ topic: message.topic, packetId, isRepeated })
      return error
    },
    onRefused: ({ topic }, error) => refused.push(`${topic}: ${(error as Error).message}`),
    onRoom: () => told.rooms++,
  })
  const topics = () => sent.splice(0).map(({ topic, isRepeated }) => (isRepeated ? `${topic} again` : topic))
  return { queue, sent, refused, told, topics }
}

test('sends no more than the window, and says when there is room again', async () => {
  const { queue, sent, told } = openQueue()
  const message: Outgoing = { topic: 'a', payload: 'b' }
  assert.ok(!queue.hasRoom, 'there is no connection')
  assert.equal(queue.whenRoom(), undefined, 'which nobody waits for')
  for (let i = 0; i < 1600; i++) queue.push(message)
  queue.open(20)
  assert.equal(sent.length, 20)
  assert.ok(!queue.hasRoom)
  assert.equal(told.rooms, 0)
  let isTold = false
  const room = queue.whenRoom()?.then(() => {
    isTold = true
  })
  for (let next = sent.shift(); next; next = sent.shift()) {
    queue.acknowledged(next.packetId, true)
    queue.acknowledged(next.packetId, true)
    assert.ok(sent.length <= 20)
    if (queue.size === 100) assert.ok(queue.hasRoom)
  }
  await room
  assert.ok(isTold)
  assert.equal(told.rooms, 1)
  assert.equal(queue.sent, 1600)
  assert.equal(queue.size, 0)
})

test('sends again what a lost connection left unacknowledged, first and under the same identifiers', async () => {
  const { queue, sent, topics } = openQueue()
  queue.open(3)
  for (const topic of ['one', 'two', 'three', 'four', 'five']) queue.push({ topic, payload: '' })
  assert.deepEqual(topics(), ['one', 'two', 'three'])
  queue.acknowledged(2, true)
  assert.deepEqual(topics(), ['four'])
  queue.close()
  queue.close()
  queue.acknowledged(1, true)
  assert.equal(queue.size, 4, 'an acknowledgement of the lost connection does not count')
  queue.open(2)
  assert.deepEqual(sent, [
    { topic: 'one', packetId: 1, isRepeated: true },
    { topic: 'three', packetId: 3, isRepeated: true },
  ])
  queue.close()
  queue.open(9)
  assert.deepEqual(topics().slice(2), ['one again', 'three again', 'four again', 'five'])
})

test('a lost connection ends the wait for room', async () => {
  const { queue } = openQueue()
  queue.open(1)
  for (let i = 0; i < 1600; i++) queue.push({ topic: 'a', payload: '' })
  const room = queue.whenRoom()
  assert.ok(room)
  queue.close()
  await room
})

test('drops what a broker that takes nothing would make grow without end', () => {
  for (const window of [0, 1000]) {
    const { queue, sent } = openQueue()
    if (window > 0) queue.open(window)
    const payload = 'x'.repeat(1024 * 1024)
    for (let i = 0; i < 50; i++) queue.push({ topic: 'a', payload })
    assert.ok(queue.dropped > 10)
    assert.ok(queue.size < 40)
    assert.ok(sent.length < 20)
    assert.ok(!queue.hasRoom)
    const kept = queue.size
    for (let next = sent.shift(); next; next = sent.shift()) queue.acknowledged(next.packetId, true)
    assert.equal(queue.sent, window > 0 ? kept : 0)
    queue.close()
    queue.open(1000)
    assert.equal(queue.sent + queue.size, kept)
  }
})

test('continues after a message that cannot be sent, and after one that the broker refuses', () => {
  const { queue, refused, sent } = openQueue(({ topic }) =>
    topic === 'bad' ? new Error('bad topic') : undefined,
  )
  const settled: string[] = []
  queue.open(1)
  for (const topic of ['good', 'bad', 'refused', 'unread']) {
    const onSettled = (error: unknown, hasReader: boolean) =>
      settled.push(`${topic} ${error ? 'fails' : hasReader}`)
    queue.push({ topic, payload: '', onSettled })
  }
  queue.acknowledged(sent[0]?.packetId ?? 0, true)
  queue.acknowledged(sent[1]?.packetId ?? 0, false, new Error('Not authorized'))
  queue.acknowledged(sent[2]?.packetId ?? 0, false)
  assert.deepEqual(refused, ['bad: bad topic', 'refused: Not authorized'])
  assert.deepEqual(settled, ['good true', 'bad fails', 'refused fails', 'unread false'])
  assert.equal(queue.sent, 2)
  assert.equal(queue.size, 0)
})

test('gives up the largest message of those that are unacknowledged', () => {
  const { queue, refused, topics } = openQueue()
  queue.open(3)
  for (const size of [1, 3, 2, 9]) queue.push({ topic: `t${size}`, payload: 'x'.repeat(size) })
  assert.ok(queue.refuseLargest(new Error('too large')))
  assert.deepEqual(refused, ['t3: too large'])
  queue.close()
  topics()
  queue.open(3)
  assert.deepEqual(topics(), ['t1 again', 't2 again', 't9'])
  for (let i = 0; i < 3; i++) queue.refuseLargest(new Error('too large'))
  assert.ok(!queue.refuseLargest(new Error('too large')))
})
