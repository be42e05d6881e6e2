import assert from 'node:assert/strict'
import test from 'node:test'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { roomInBudget } from '../../../src/domain/rollout/budget.ts'
import { beginRollout, judgeRollout } from '../../../src/domain/rollout/judge-rollout.ts'

const part = { released: 10, total: 20 }
const unfinished = (count: number) => [{ value: 'a', count }]

test('a rollout is held back at the first device whose value is full', () => {
  const upTo = (next: (string | null)[], max = 1, count = 0) =>
    roomInBudget(max, { next, unfinished: unfinished(count), from: 0 }, part).upTo
  assert.equal(upTo(['a', 'b', 'a', 'c']), 12)
  assert.equal(upTo(['a', 'b', 'a', 'c'], 2), 14)
  assert.equal(upTo(['b', 'a'], 1, 1), 11)
  assert.equal(upTo(['a', 'b'], 2, 2), 10)
  assert.equal(upTo(['a', 'b'], 2, 3), 10, 'after the budget was lowered')
})

test('each device without the attribute is a value of its own', () => {
  const found = { next: [null, null, 'a', null], unfinished: unfinished(0), from: 3 }
  assert.deepEqual(roomInBudget(1, found, part), { upTo: 14, isCut: true, from: 3 })
  assert.equal(roomInBudget(1, found, { released: 16, total: 20 }).isCut, false)
})

test('the budget holds over waves and with a rate, and what was not looked at is looked at next', () => {
  const now = steadyInstant(5)
  const facts = { rollout: {}, run: {}, wave: {}, confirmed: 0, inFlight: 0, now }
  const judge = (sizes: number[], budget: { upTo: number; isCut: boolean }, more = {}) =>
    judgeRollout(beginRollout(sizes.length, now), {
      ...facts,
      ...more,
      sizes,
      budget: { ...budget, from: 0 },
    })
  const held = judge([9], { upTo: 4, isCut: false })
  assert.deepEqual([held.status.released, held.status.state, held.nextAt], [4, 'ROLLING_OUT', null])
  assert.equal(judge([9], { upTo: 4, isCut: true }).nextAt, now)
  const paced = judge([9], { upTo: 4, isCut: true }, { rollout: { ratePerMinute: 60 } })
  assert.deepEqual([paced.status.released, paced.nextAt], [1, 1005])
  assert.equal(judge([2, 7], { upTo: 4, isCut: false }).status.released, 2)
  assert.equal(judge([9], { upTo: 9, isCut: false }).status.state, 'RELEASED')
})
