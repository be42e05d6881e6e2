// When schedules are due, and what they have missed. Simple instants: all of them lie on one day in UTC.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredWhen } from '../../../src/domain/schedule/ports/schedules.ts'
import { judgeDue, nextOccurrence, timesAfter } from '../../../src/domain/schedule/schedule-times.ts'

const at = (time: string) => Date.parse(`2026-11-18T${time}Z`)
const hourly: StoredWhen = { kind: 'cron', cron: '0 * * * *', timeZone: 'UTC' }
const timed = (when: StoredWhen, more = {}) => ({
  ...{ when, until: null, jitterSeconds: 0, catchUpSeconds: 600 },
  ...more,
})

test('the next occurrence lies after the instant, not at it', () => {
  assert.equal(nextOccurrence(timed(hourly), at('02:00:00')), at('03:00:00'))
  assert.equal(nextOccurrence(timed({ kind: 'at', at: at('02:00:00') }), at('02:00:00')), undefined)
  assert.equal(nextOccurrence(timed({ kind: 'at', at: at('02:00:00') }), at('01:59:59')), at('02:00:00'))
  assert.equal(nextOccurrence(timed({ kind: 'match' }), at('02:00:00')), undefined)
})

test('an occurrence at `until` is the last one', () => {
  const limited = timed(hourly, { until: at('03:00:00') })
  assert.equal(nextOccurrence(limited, at('02:00:00')), at('03:00:00'))
  assert.equal(nextOccurrence(limited, at('03:00:00')), undefined)
  assert.deepEqual(timesAfter(limited, 7, at('03:00:00')), { nextFor: null, dueAt: null })
})

test('a random delay is the same each time, differs by schedule, and ends before the next occurrence', () => {
  const delayed = timed(hourly, { jitterSeconds: 24 * 60 * 60 })
  const delayOf = (scheduleNo: number) => {
    const { nextFor, dueAt } = timesAfter(delayed, scheduleNo, at('02:00:00'))
    return Number(dueAt) - Number(nextFor)
  }
  const delays = Array.from({ length: 100 }, (_, scheduleNo) => delayOf(scheduleNo))
  assert.deepEqual(
    delays,
    Array.from({ length: 100 }, (_, scheduleNo) => delayOf(scheduleNo)),
  )
  assert.ok(delays.every((delay) => delay >= 0 && delay < 60 * 60_000))
  assert.ok(new Set(delays).size > 90)
})

const cases: { now: string; runs: string | undefined; missed: number; next: string }[] = [
  { now: '02:00:00', runs: '02:00:00', missed: 0, next: '03:00:00' },
  { now: '02:10:10', runs: '02:00:00', missed: 0, next: '03:00:00' },
  // Later than catchUpSeconds and the tolerated 10 seconds.
  { now: '02:10:11', runs: undefined, missed: 1, next: '03:00:00' },
  { now: '05:00:00', runs: '05:00:00', missed: 3, next: '06:00:00' },
  { now: '05:30:00', runs: undefined, missed: 4, next: '06:00:00' },
]
for (const { now, runs, missed, next } of cases) {
  test(`of what was due since 02:00, at ${now} ${runs ?? 'nothing'} runs and ${missed} are missed`, () => {
    const due = judgeDue(timed(hourly), 7, at('02:00:00'), at(now))
    assert.equal(due.occurrence, runs && at(runs))
    assert.equal(due.missed?.count ?? 0, missed)
    assert.equal(due.missed?.from, missed === 0 ? undefined : at('02:00:00'))
    assert.equal(due.times.nextFor, at(next))
  })
}

test('more than 1000 missed occurrences are not counted further', () => {
  const minutely = timed({ kind: 'cron', cron: '* * * * *', timeZone: 'UTC' })
  const first = at('02:00:00')
  const { missed, occurrence } = judgeDue(minutely, 7, first, first + 2000 * 60_000)
  assert.equal(occurrence, first + 2000 * 60_000)
  assert.deepEqual(missed, { count: 1000, isMore: true, from: first, to: first + 999 * 60_000 })
})

test('nothing occurs on the excepted dates of its zone, which are not missed either', () => {
  const when: StoredWhen = { kind: 'cron', cron: '30 0 * * *', timeZone: 'Europe/Berlin' }
  const excepted = timed(when, { except: ['2026-11-21', '2026-11-19/2026-11-20'] })
  const day = (date: string) => Date.parse(`2026-11-${date}T23:30:00Z`)
  assert.equal(nextOccurrence(excepted, at('00:00:00')), day('21'))
  assert.equal(nextOccurrence(excepted, day('21')), day('22'))
  const due = judgeDue(excepted, 7, day('17'), day('22'))
  assert.deepEqual([due.occurrence, due.missed?.count, due.missed?.to], [day('22'), 2, day('21')])
  const never = timed(when, { except: ['2026-01-01/9999-12-31'] })
  assert.equal(nextOccurrence(never, at('00:00:00')), undefined)
})
