// What is computed for the screens, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run, RunTimeline } from '@jobcast/client'
import { RequestBudget } from '../src/live/request-budget.ts'
import { naturally } from '../src/parts/natural-order.ts'
import { progressOf } from '../src/screens/run/progress.ts'
import { remainingOf } from '../src/screens/run/run-time.ts'

test('names are in natural order', () => {
  const names = ['sim-10', 'sim-2', 'a', 'sim-2b', 'sim-1.10', 'sim-1.9']
  assert.deepEqual(
    naturally(names, (name) => name),
    ['a', 'sim-1.9', 'sim-1.10', 'sim-2', 'sim-2b', 'sim-10'],
  )
})

test('a few requests are made at once, and more have to wait', (t) => {
  t.mock.method(performance, 'now', () => 0)
  const budget = new RequestBudget({ perSecond: 2, burst: 4 })
  budget.spend(4)
  assert.equal(budget.waitMs(), 0)
  budget.spend(6)
  assert.equal(budget.waitMs(), 3000)
})

test('the remaining time of a run is estimated once enough executions have ended', () => {
  const none = {
    PENDING: 0,
    IN_PROGRESS: 0,
    CANCELING: 0,
    SUCCEEDED: 0,
    FAILED: 0,
    TIMED_OUT: 0,
    REJECTED: 0,
    EXPIRED: 0,
    CANCELED: 0,
  }
  const run = (SUCCEEDED: number, FAILED: number): Pick<Run, 'total' | 'counts'> => ({
    total: 100,
    counts: { ...none, SUCCEEDED, FAILED },
  })
  assert.equal(remainingOf(run(2, 0), 10_000), undefined)
  assert.equal(remainingOf(run(20, 5), 10_000), 30_000)
  assert.equal(remainingOf(run(95, 5), 10_000), undefined)
})

test('the curves of a run begin at zero, and canceled executions do not count as failed', () => {
  const timeline: RunTimeline = {
    runId: 1,
    from: '2026-11-16T10:00:00.000Z',
    until: '2026-11-16T10:00:03.000Z',
    stepMs: 2000,
    total: 4,
    sampled: 4,
    counts: { IN_PROGRESS: [2, 0], CANCELING: [1, 0], FAILED: [0, 1], TIMED_OUT: [0, 1], CANCELED: [0, 1] },
  }
  const { times, ...curves } = progressOf(timeline)
  assert.deepEqual(
    times.map((time) => time - Date.parse(timeline.from)),
    [0, 2000, 3000],
  )
  assert.deepEqual(curves, {
    running: [0, 3, 0],
    succeeded: [0, 0, 0],
    failed: [0, 0, 2],
    canceled: [0, 0, 1],
  })
})
