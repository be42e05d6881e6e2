// For any writes and weights, any failing commits and any order of their ends: each write settles once with its own outcome, and
// the limits hold at all times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { StorageUnavailable, TooMuchWaiting } from '../../src/domain/common/ports/storage-errors.ts'
import { GroupCommit } from '../../src/store/group-commit.ts'

const item = fc.record({
  weight: fc.nat(12),
  /** What a commit that carries it does. */
  fate: fc.constantFrom('ok', 'ok', 'ok', 'ok', 'bad', 'storage away'),
  /** Whether a commit may end before the next item is written. */
  pause: fc.boolean(),
})
type Item = { weight: number; fate: string; pause: boolean; index: number }

const limits = fc.record({
  maxGroupWeight: fc.integer({ min: 1, max: 20 }),
  maxWaitingWeight: fc.integer({ min: 1, max: 40 }),
  maxWaitingItems: fc.integer({ min: 1, max: 8 }),
  maxInFlight: fc.integer({ min: 1, max: 3 }),
})
type Limits = typeof limits extends fc.Arbitrary<infer T> ? T : never

/** A store of which the scheduler says when each commit ends; it watches over what it is sent. */
class WatchedStore {
  readonly scheduler: fc.Scheduler
  readonly limits: Limits
  /** Indexes in the order in which they were sent for the first time. */
  readonly sent: number[] = []
  readonly written: number[] = []
  #inFlight = 0

  constructor(scheduler: fc.Scheduler, limits: Limits) {
    this.scheduler = scheduler
    this.limits = limits
  }

  commit = async (items: Item[]): Promise<string[]> => {
    this.#inFlight++
    assert.ok(this.#inFlight <= this.limits.maxInFlight, 'too many commits are in progress')
    const weight = items.reduce((sum, each) => sum + each.weight, 0)
    assert.ok(items.length === 1 || weight <= this.limits.maxGroupWeight, 'a group is too heavy')
    for (const { index } of items) if (!this.sent.includes(index)) this.sent.push(index)
    try {
      await this.scheduler.schedule(Promise.resolve())
      if (items.some((each) => each.fate === 'storage away')) throw new StorageUnavailable('away')
      const bad = items.filter((each) => each.fate === 'bad')
      if (bad.length > 0) throw new Error(`bad ${bad.map((each) => each.index)}`)
      this.written.push(...items.map((each) => each.index))
      return items.map((each) => `out ${each.index}`)
    } finally {
      this.#inFlight--
    }
  }
}

test('each write settles once with its own outcome, order is kept, and no bound is broken', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    limits,
    fc.array(item, { maxLength: 40, size: 'max' }),
    async (scheduler, limits, items) => {
      const store = new WatchedStore(scheduler, limits)
      const groups = new GroupCommit(store.commit, {
        ...limits,
        weigh: (each: Item) => each.weight,
        ownerOf: () => 1,
        maxOwnerShare: 1,
      })
      const accepted: Item[] = []
      const settlings: Promise<{ item: Item; out?: string; error?: Error }>[] = []
      for (const [index, each] of items.entries()) {
        const item = { ...each, index }
        const mayWait = isRoomFor(item, accepted.slice(store.sent.length), limits)
        const settling = groups.write(item).then(
          (out) => ({ item, out }),
          (error: Error) => ({ item, error }),
        )
        settlings.push(settling)
        if (mayWait) accepted.push(item)
        assert.equal(
          accepted.length,
          store.sent.length + groups.waitingItems,
          'refused without need, or taken',
        )
        assertWaitingIsBounded(accepted.slice(store.sent.length), groups.waitingItems, limits)
        if (each.pause && scheduler.count() > 0) await scheduler.waitNext(1)
      }
      await scheduler.waitIdle()

      const settled = await Promise.all(settlings)
      for (const { item, out, error } of settled) {
        const times = store.written.filter((index) => index === item.index).length
        if (error) assert.equal(times, 0, 'what was refused or failed was written')
        else assert.deepEqual([out, times], [`out ${item.index}`, 1])
        if (error instanceof TooMuchWaiting) assert.ok(!store.sent.includes(item.index))
        else if (item.fate === 'bad') assert.match(String(error), new RegExp(`bad ${item.index}$|away`))
        else if (item.fate === 'storage away') assert.ok(error instanceof StorageUnavailable)
        else assert.ok(error === undefined || error instanceof StorageUnavailable)
      }
      assert.deepEqual(
        store.sent,
        accepted.map((each) => each.index),
      )
      assert.equal(groups.waitingItems, 0)
      // Groups may end in any order only when several are in progress.
      const sorted = store.written.toSorted((a, b) => a - b)
      if (limits.maxInFlight === 1) assert.deepEqual(store.written, sorted)
    },
  )
  await fc.assert(property, randomInputs({ test: 50, chaos: 5000 }))
})

/** However heavy an item is, it counts for half of what may wait. */
function loadOf(items: Item[], { maxWaitingWeight }: Limits): number {
  return items.reduce((sum, each) => sum + Math.min(each.weight, maxWaitingWeight / 2), 0)
}

function isRoomFor(item: Item, waiting: Item[], limits: Limits): boolean {
  const isLight = waiting.length === 0 || loadOf([...waiting, item], limits) <= limits.maxWaitingWeight
  return waiting.length < limits.maxWaitingItems && isLight
}

function assertWaitingIsBounded(waiting: Item[], waitingItems: number, limits: Limits): void {
  assert.equal(waiting.length, waitingItems)
  assert.ok(waitingItems <= limits.maxWaitingItems, 'too many wait')
  const load = loadOf(waiting, limits)
  assert.ok(waitingItems <= 1 || load <= limits.maxWaitingWeight, 'what waits is too heavy')
}
