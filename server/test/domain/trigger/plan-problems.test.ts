import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rollout } from '@jobcast/contract'
import { findExpiryProblems, findStopProblems } from '../../../src/domain/trigger/plan-problems.ts'

const rule = (more: object) => ({ on: ['FAILED' as const], ...more })
const count = (rollout: Rollout, sizes: number[]) => findStopProblems(rollout, sizes).length

test('stop rules of one wave without a rate hold nothing back', () => {
  const stop = [rule({ count: 1 }), rule({ percent: 5 })]
  assert.match(findStopProblems({ stop }, [100])[0] ?? '', /one wave without a rate/)
  assert.equal(count({ stop }, [100]), 1)
  assert.equal(count({ stop, ratePerMinute: 10 }, [100]), 0)
  assert.equal(count({ stop, maxUnderWay: 10 }, [100]), 0)
  assert.equal(count({ stop, budget: { by: 'site', max: 1 } }, [100]), 0)
  assert.equal(count({ stop, maxUnderWay: 100 }, [100]), 1)
  assert.equal(count({ stop }, []), 0)
  assert.equal(count({}, [100]), 0)
})

test('a rule needs no more ends than there can be before all of it is released', () => {
  const cases: [Rollout, number[], number][] = [
    [{ stop: [rule({ percent: 5, minEnded: 20 })] }, [5, 100], 1],
    [{ stop: [rule({ percent: 5, minEnded: 20 })] }, [5, 15, 100], 0],
    [{ stop: [rule({ percent: 5, minEnded: 20, of: 'WAVE' })] }, [5, 15, 100], 1],
    [{ stop: [rule({ percent: 5, minEnded: 15, of: 'WAVE' })] }, [5, 15, 100], 0],
    [{ stop: [rule({ percent: 5, minEnded: 20, of: 'WAVE' })], ratePerMinute: 1 }, [5, 15, 100], 0],
    [{ stop: [rule({ count: 6 })] }, [5, 100], 1],
    [{ stop: [rule({ count: 5 })] }, [5, 100], 0],
    [{ stop: [rule({ percent: 1, minEnded: 105 })], ratePerMinute: 1 }, [5, 100], 1],
    [{ stop: [rule({ percent: 1, minEnded: 104 })], ratePerMinute: 1 }, [5, 100], 0],
    [{ stop: [rule({ percent: 5 })] }, [1, 1], 0],
  ]
  for (const [rollout, sizes, expected] of cases)
    assert.equal(count(rollout, sizes), expected, JSON.stringify(rollout))
  const [problem] = findStopProblems(
    { stop: [rule({ count: 1 }), rule({ percent: 5, minEnded: 20 })] },
    [5, 100],
  )
  assert.equal(
    problem,
    'The stop rule rollout.stop[1] can hold nothing back: its minEnded is 20, and at most 5 executions of the run can ' +
      'end before all of it is released.',
  )
})

test('an expiry that is shorter than the wait for the window is a problem, as is a window that never opens', () => {
  const job = { expireAfterSeconds: 3600 }
  assert.deepEqual(findExpiryProblems(job, 0), [])
  assert.deepEqual(findExpiryProblems(job, 3_599_999), [])
  assert.equal(findExpiryProblems(job, 3_600_000).length, 1)
  assert.equal(findExpiryProblems({ expireAfterSeconds: null }, 5000).length, 0)
  assert.match(findExpiryProblems(job, Infinity)[0] ?? '', /never opens/)
})
