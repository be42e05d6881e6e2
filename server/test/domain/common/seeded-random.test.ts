import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../src/domain/common/seeded-random.ts'

const draw = (seed: string, count: number) => {
  const random = seededRandom(seed)
  return Array.from({ length: count }, random)
}

test('a seed gives the same numbers again, another one gives others', () => {
  assert.deepEqual(draw('a plan', 5), draw('a plan', 5))
  assert.notDeepEqual(draw('a plan', 5), draw('another plan', 5))
  // Plans that were made before an upgrade are started after it.
  assert.deepEqual(
    draw('a plan', 3).map((value) => Math.floor(value * 1000)),
    [100, 98, 447],
  )
})

test('numbers are spread evenly from 0 up to 1', () => {
  const tenths = new Array(10).fill(0)
  for (const value of draw('even', 10_000)) {
    assert.ok(value >= 0 && value < 1)
    tenths[Math.floor(value * 10)]++
  }
  for (const count of tenths) assert.ok(count > 850 && count < 1150, String(tenths))
})
