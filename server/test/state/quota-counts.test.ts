import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { DailyOutput } from '../../src/state/daily-output.ts'
import { QuotaCounts } from '../../src/state/quota-counts.ts'

function openCounts(limit: number) {
  const clock = { ms: 0 }
  const stored = { count: 0, reads: 0 }
  const counts = new QuotaCounts({
    store: {
      async countUsed() {
        stored.reads++
        return stored.count
      },
    },
    quotas: { ...noQuotas, jobs: limit },
    now: () => clock.ms,
    elapsed: () => clock.ms,
  })
  const create = async () => {
    const hasRoom = await counts.reserve('jobs', 1)
    if (hasRoom) {
      stored.count++
      counts.settle('jobs', 1, 1, true)
    }
    return hasRoom
  }
  return { clock, stored, counts, create }
}

test('a quota is reached exactly, and the store is read once as long as there is room', async () => {
  const { stored, create } = openCounts(3)
  assert.deepEqual([await create(), await create(), await create()], [true, true, true])
  assert.equal(stored.reads, 1)
  assert.equal(await create(), false)
  assert.equal(stored.count, 3)
})

test('concurrent calls do not exceed the quota', async () => {
  const { create } = openCounts(3)
  const outcomes = await Promise.all(Array.from({ length: 10 }, create))
  assert.equal(outcomes.filter(Boolean).length, 3)
})

test('what was deleted makes room for the next call', async () => {
  const { stored, create } = openCounts(2)
  await create()
  await create()
  stored.count = 1
  assert.equal(await create(), true)
})

test('unused reservations are released', async () => {
  const { counts, create } = openCounts(1)
  assert.equal(await counts.reserve('jobs', 1), true)
  counts.settle('jobs', 1, 1, false)
  assert.equal(await create(), true)
})

test('what other nodes create is seen after a minute', async () => {
  const { clock, stored, counts, create } = openCounts(5)
  await create()
  stored.count = 5
  assert.equal(counts.used('jobs', 1), 1)
  clock.ms += 60_001
  await create()
  assert.equal(await create(), false)
})

test('a quota of 0 means no limit', () => {
  const { counts, stored } = openCounts(0)
  assert.equal(counts.reserve('jobs', 1, 1_000_000), true)
  assert.equal(stored.reads, 0)
})

test('the output of a day is counted by owner, and again on the next day', () => {
  const clock = { ms: 0 }
  const daily = new DailyOutput(10, () => clock.ms)
  assert.deepEqual(
    [daily.take(1, 8), daily.take(1, 3), daily.take(1, 2), daily.take(2, 10)],
    [true, false, true, true],
  )
  clock.ms += 24 * 60 * 60 * 1000
  assert.equal(daily.take(1, 10), true)
})
