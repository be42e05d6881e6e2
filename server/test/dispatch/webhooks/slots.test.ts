// The assignment of slots: each owner gets at most a share, and waiting owners with the fewest slots are first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots, type SlotWaiter } from '../../../src/dispatch/webhooks/slots.ts'

/** Sends one request after the other for as long as it gets slots. */
class Sender implements SlotWaiter {
  readonly ownerNo: number
  held = 0
  left: number
  readonly #slots: Slots

  constructor(slots: Slots, ownerNo: number, requests: number) {
    this.#slots = slots
    this.ownerNo = ownerNo
    this.left = requests
  }

  pump(): void {
    while (this.left > 0 && this.#slots.tryAcquire(this)) {
      this.left--
      this.held++
    }
  }

  end(): void {
    this.held--
    this.#slots.release(this)
  }
}

test('an owner holds an eighth of the slots, with however many webhooks', () => {
  const slots = new Slots(16)
  const ofOne = Array.from({ length: 20 }, () => new Sender(slots, 1, 5))
  for (const sender of ofOne) sender.pump()
  assert.equal(
    ofOne.reduce((sum, { held }) => sum + held, 0),
    2,
  )
  const other = new Sender(slots, 2, 5)
  other.pump()
  assert.equal(other.held, 2)
})

test('an owner always has one slot', () => {
  const slots = new Slots(3)
  const senders = [1, 2, 3].map((ownerNo) => new Sender(slots, ownerNo, 9))
  for (const sender of senders) sender.pump()
  assert.deepEqual(
    senders.map(({ held }) => held),
    [1, 1, 1],
  )
})

test('a slot that becomes free goes to the owner that holds the fewest, and all are served in the end', () => {
  const slots = new Slots(16)
  const full = [1, 2, 3, 4, 5, 6, 7, 8].map((ownerNo) => new Sender(slots, ownerNo, 100))
  for (const sender of full) sender.pump()
  const late = [new Sender(slots, 9, 1), new Sender(slots, 9, 1)]
  for (const sender of late) sender.pump()
  assert.deepEqual(
    late.map(({ held }) => held),
    [0, 0],
  )
  full[0]?.end()
  assert.deepEqual(
    late.map(({ held }) => held),
    [1, 0],
  )
  const all = [...late, ...full]
  for (let busy = all; busy.length > 0; busy = all.filter(({ held }) => held > 0)) busy[0]?.end()
  assert.ok(all.every(({ left, held }) => left + held === 0))
})

test('a channel that has nothing left to send gives up its turn', () => {
  const slots = new Slots(8)
  const [first, idle, next] = [new Sender(slots, 1, 2), new Sender(slots, 1, 1), new Sender(slots, 1, 1)]
  for (const sender of [first, idle, next]) sender?.pump()
  if (idle) idle.left = 0
  first?.end()
  first?.end()
  assert.deepEqual([idle?.held, next?.held], [0, 1])
})
