import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBuckets } from '../../src/limits/token-buckets.ts'

function openBuckets(options: { perSecond: number; burst: number; maxBuckets?: number }) {
  const clock = { ms: 0 }
  return { clock, buckets: new TokenBuckets({ ...options, elapsed: () => clock.ms }) }
}

test('a bucket gives its burst at once, then says how long to wait, and fills again', () => {
  const { clock, buckets } = openBuckets({ perSecond: 2, burst: 3 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a')),
    [0, 0, 0, 500],
  )
  clock.ms = 250
  assert.equal(buckets.take('a'), 250)
  clock.ms = 500
  assert.deepEqual([buckets.take('a'), buckets.take('a')], [0, 500])
  clock.ms = 1_000_000
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a')),
    [0, 0, 0, 500],
  )
})

test('what is large costs more, but never more than a full bucket', () => {
  const { clock, buckets } = openBuckets({ perSecond: 1, burst: 4 })
  assert.deepEqual([buckets.take('a', 3), buckets.take('a', 3)], [0, 2000])
  clock.ms = 3000
  assert.equal(buckets.take('a', 1000), 0)
})

test('buckets do not share', () => {
  const { buckets } = openBuckets({ perSecond: 1, burst: 1 })
  assert.deepEqual([buckets.take('a'), buckets.take('b'), buckets.take('a')], [0, 0, 1000])
})

test('however many names there are, the number of buckets is bounded, and those in use stay', () => {
  const { buckets } = openBuckets({ perSecond: 1, burst: 1, maxBuckets: 100 })
  buckets.take('busy')
  for (let i = 0; i < 10_000; i++) {
    buckets.take(`stranger ${i}`)
    assert.ok(buckets.size <= 100)
    assert.ok(buckets.take('busy') > 0, 'a bucket in use was dropped')
  }
})
