// How the reasons of failures are summarized.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FailureGroup } from '../../src/domain/trigger/ports/run-failures.ts'
import { listReasons, maxReasons } from '../../src/domain/trigger/read-failures.ts'

const group = (more: Partial<FailureGroup>): FailureGroup => ({
  execState: 'FAILED',
  event: 'fail',
  reason: null,
  count: 1,
  sample: ['d1'],
  ...more,
})

test('without a reason the end is named, and the same words are one reason', () => {
  const groups = [
    group({ reason: 'disk full', count: 3, sample: ['a', 'b', 'c'] }),
    group({ execState: 'TIMED_OUT', event: 'time-out', count: 2, sample: ['d', 'e'] }),
    group({ execState: 'REJECTED', event: 'reject', reason: 'disk full', count: 2, sample: ['c', 'f'] }),
    group({ execState: 'CANCELED', event: 'cancel', sample: ['g'] }),
    group({ execState: 'CANCELED', event: 'confirm-cancel', sample: ['h'] }),
    group({ sample: ['i'] }),
    group({ execState: 'EXPIRED', event: null, sample: ['j'] }),
  ]
  assert.deepEqual(listReasons(groups, 11), [
    { reason: 'disk full', count: 5, sample: ['a', 'b', 'c', 'f'] },
    {
      reason: 'TIMED_OUT: the device worked longer than timeoutSeconds, or its own step timeout, allows',
      count: 2,
      sample: ['d', 'e'],
    },
    { reason: 'CANCELED after it was sent to the device', count: 2, sample: ['g', 'h'] },
    { reason: 'FAILED, without a reason', count: 1, sample: ['i'] },
    { reason: 'EXPIRED, without a reason', count: 1, sample: ['j'] },
  ])
})

test('a bounded number of reasons is listed; the others are counted together', () => {
  const groups = Array.from({ length: 90 }, (_, index) =>
    group({ reason: `reason ${index}`, count: 100 - index, sample: [`d${index}`] }),
  )
  const total = groups.reduce((sum, { count }) => sum + count, 0) + 500
  const reasons = listReasons(groups, total)
  assert.equal(reasons.length, maxReasons + 1)
  assert.equal(
    reasons.reduce((sum, { count }) => sum + count, 0),
    total,
  )
  const [first, last] = [reasons[0], reasons.at(-1)]
  assert.deepEqual(first, { reason: 'reason 0', count: 100, sample: ['d0'] })
  assert.equal(last?.reason, 'other reasons')
  assert.deepEqual(
    last?.sample,
    Array.from({ length: 20 }, (_, index) => `d${index + maxReasons}`),
  )
})

test('samples are bounded when groups are one', () => {
  const ids = (name: string) => Array.from({ length: 20 }, (_, index) => `${name}${index}`)
  const groups = [
    group({ reason: 'x', count: 50, sample: ids('a') }),
    group({ execState: 'REJECTED', event: 'reject', reason: 'x', count: 50, sample: ids('b') }),
  ]
  assert.deepEqual(listReasons(groups, 100), [{ reason: 'x', count: 100, sample: ids('a') }])
})
