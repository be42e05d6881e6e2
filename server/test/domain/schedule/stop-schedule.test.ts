import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findStop } from '../../../src/domain/schedule/stop-schedule.ts'

test('of several stop rules that are met the hardest action wins, and rules of a wave are not counted here', () => {
  const failed = { on: ['FAILED' as const] }
  const counts = { SUCCEEDED: 7, FAILED: 3 }
  assert.equal(findStop([{ ...failed, count: 4 }], counts), undefined)
  assert.equal(findStop([{ ...failed, count: 1, of: 'WAVE' }], counts), undefined)
  assert.equal(findStop([{ ...failed, percent: 30, minEnded: 11 }], counts), undefined)
  assert.equal(
    findStop(
      [
        { ...failed, percent: 31 },
        { ...failed, percent: 30 },
      ],
      counts,
    )?.index,
    1,
  )
  const met = findStop(
    [
      { ...failed, count: 3 },
      { ...failed, count: 2, action: 'ABORT' },
    ],
    counts,
  )
  assert.deepEqual([met?.index, met?.matching, met?.ended], [1, 3, 10])
})
