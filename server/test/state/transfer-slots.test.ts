import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { TransferSlots } from '../../src/state/transfer-slots.ts'

const isRefused = (slots: TransferSlots, ownerNo: number, detail: RegExp) =>
  assert.throws(
    () => slots.take(ownerNo),
    (error) => error instanceof ApiError && error.code === 'J-908' && detail.test(error.details.detail ?? ''),
  )

function open(most: number) {
  const clock = { ms: 0 }
  return { clock, slots: new TransferSlots(most, 'downloads', () => clock.ms) }
}

test('one owner can take all slots while no other needs one', () => {
  const { slots } = open(4)
  const releases = Array.from({ length: 4 }, () => slots.take(1))
  isRefused(slots, 1, /A node serves at most 4 downloads at once/)
  assert.equal(slots.taken, 4)
  for (const release of releases) release()
  assert.equal(slots.taken, 0)
  assert.equal(typeof slots.take(1), 'function')
})

test('released slots go to a waiting owner until each has its share', () => {
  const { slots } = open(4)
  const releases = Array.from({ length: 4 }, () => slots.take(1))
  isRefused(slots, 2, /A node serves at most 4 downloads at once/)
  releases.pop()?.()
  isRefused(slots, 1, /While other owners wait, a node serves for one owner at most 2 downloads at once/)
  slots.take(2)
  isRefused(slots, 2, /A node serves at most 4/)
  releases.pop()?.()
  isRefused(slots, 1, /While other owners wait/)
  slots.take(2)
  releases.pop()?.()
  // Below its share again.
  slots.take(1)
  isRefused(slots, 2, /A node serves at most 4/)
})

test('an owner that does not return leaves the slots to others', () => {
  const { slots, clock } = open(2)
  const releases = [slots.take(1), slots.take(1)]
  isRefused(slots, 2, /at most 2/)
  releases.pop()?.()
  clock.ms += 15_000
  isRefused(slots, 1, /While other owners wait/)
  clock.ms++
  slots.take(1)
})

test('a slot is released once, however often release is called', () => {
  const { slots } = open(2)
  const release = slots.take(1)
  slots.take(1)
  release()
  release()
  assert.equal(slots.taken, 1)
  slots.take(1)
  isRefused(slots, 1, /at most 2/)
})

test('a single slot goes to the first request', () => {
  const { slots } = open(1)
  slots.take(1)
  isRefused(slots, 2, /A node serves at most 1 downloads/)
})
