import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../src/domain/common/seeded-random.ts'
import { planWaves } from '../../../src/domain/rollout/plan-waves.ts'

const planning = {
  total: 40,
  matches: (where: string, index: number) => where === 'even' && index % 2 === 0,
  random: () => 0,
}

test('five canaries, then ten percent, then all the rest', () => {
  const plan = planWaves(
    { order: 'GIVEN', waves: [{ size: 5, where: 'even' }, { size: '10%' }, { size: '100%' }] },
    planning,
  )
  assert.ok('sizes' in plan)
  assert.deepEqual(plan.sizes, [5, 4, 31])
  assert.deepEqual(plan.deviceIndexes.slice(0, 9), [0, 2, 4, 6, 8, 1, 3, 5, 7])
  assert.deepEqual(
    [...plan.deviceIndexes].sort((a, b) => a - b),
    Array.from({ length: 40 }, (_, index) => index),
  )
})

test('without waves there is one; a percentage is at least one device; waves for which nothing is left are dropped', () => {
  const order = 'GIVEN'
  assert.deepEqual(planWaves({ order }, { ...planning, total: 2 }), { sizes: [2], deviceIndexes: [0, 1] })
  const waves = [{ size: '1%' }, { size: 1 }, { size: '50%' }]
  assert.deepEqual(planWaves({ order, waves }, { ...planning, total: 2 }), {
    sizes: [1, 1],
    deviceIndexes: [0, 1],
  })
})

test('waves that leave devices out, and a wave that matches none, are problems', () => {
  assert.deepEqual(planWaves({ waves: [{ size: '10%' }, { size: 6 }] }, planning), {
    kind: 'not-all',
    missing: 30,
  })
  const waves = [{ size: 1 }, { size: 5, where: 'odd' }, { size: '100%' }]
  assert.deepEqual(planWaves({ waves }, planning), { kind: 'wave-matches-none', wave: 2 })
})

test('the order is random by default, and every device is in it once', () => {
  const ordered = (seed: string, order?: 'RANDOM') =>
    planWaves(order ? { order } : {}, { ...planning, random: seededRandom(seed) })
  const plan = ordered('one')
  assert.deepEqual(plan, ordered('one', 'RANDOM'))
  assert.notDeepEqual(plan, ordered('another'))
  assert.ok('sizes' in plan)
  assert.notDeepEqual(
    plan.deviceIndexes,
    [...plan.deviceIndexes].sort((a, b) => a - b),
  )
  assert.equal(new Set(plan.deviceIndexes).size, 40)
})
