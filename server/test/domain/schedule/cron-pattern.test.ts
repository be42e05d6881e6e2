// Occurrences against a reference that goes through the minutes one by one. "node <this file> zones=500 patterns=12 days=40"
// takes a quarter of an hour; JOBCAST_TEST_SEED=<seed> makes other choices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '@jobcast/contract'
import { toLocalText } from '@jobcast/contract/cron'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { readCron } from '../../../src/domain/schedule/cron-pattern.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const begin = Date.parse('2026-11-01T00:00:00Z')
const end = begin + 730 * dayMs
/** So many days around each change of the clock, and so many others. */
const zones = testSize('zones', { test: 8, chaos: 500 })
const patterns = testSize('patterns', { test: 3, chaos: 3 })
const otherDays = testSize('days', { test: 4, chaos: 4 })

type Sets = { minutes: number[]; hours: number[]; days: number[]; months: number[]; weekdays: number[] }
const all = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const whole: Sets = {
  minutes: all(0, 59),
  hours: all(0, 23),
  days: all(1, 31),
  months: all(1, 12),
  weekdays: all(0, 6),
}

test(`each local time runs exactly once, also when clocks change (seed ${testSeed})`, longTest, () => {
  const random = seededRandom(testSeed)
  // Some of all, and always the ones that are unlike others: half an hour, two hours, at midnight.
  const odd = ['Australia/Lord_Howe', 'Antarctica/Troll', 'Africa/Cairo', 'America/Havana', 'Europe/Berlin']
  const some = random.some(Intl.supportedValuesOf('timeZone'), zones)
  let occurrences = 0
  for (const zone of new Set([...odd, ...some])) {
    const offsets = offsetsOf(zone)
    for (let round = 0; round < patterns; round++) {
      const sets = randomSets(random)
      const pattern = textOf(sets, random)
      const cron = readCron(pattern, zone, 'when')
      for (const [from, to] of spansOf(offsets, random)) {
        const expected = reference(offsets, sets, from, to)
        const found: number[] = []
        for (let at = cron.next(from - 1); at !== undefined && at < to; at = cron.next(at)) found.push(at)
        if (!isDeepStrictEqual(found, expected)) {
          const shown = (list: number[]) => list.map((at) => toLocalText(zone, at))
          assert.deepEqual(shown(found), shown(expected), `${pattern} in ${zone}`)
        }
        occurrences += found.length
      }
    }
  }
  assert.ok(occurrences > zones)
})

/** Of each hour; where it changes within an hour, of each minute. */
function offsetsOf(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  const ask = (instant: number) => {
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign = '+', hours = '0', minutes = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs)
  }
  const hourly = new Map<number, number>()
  const atHour = (hour: number) => {
    const known = hourly.get(hour) ?? ask(hour * hourMs)
    hourly.set(hour, known)
    return known
  }
  return (instant) => {
    const hour = Math.floor(instant / hourMs)
    return atHour(hour) === atHour(hour + 1) ? atHour(hour) : ask(instant)
  }
}

function spansOf(offsets: (instant: number) => number, random: Random): [number, number][] {
  const days: number[] = []
  for (let day = begin; day < end; day += dayMs) if (offsets(day) !== offsets(day + dayMs)) days.push(day)
  const others = Array.from({ length: otherDays }, () => begin + random.below(729) * dayMs)
  return [...days, ...others].map((day) => [day - dayMs, day + 2 * dayMs])
}

/** Minute by minute: repeated local times do not count, skipped ones count at the first minute after them. */
function reference(offsets: (instant: number) => number, sets: Sets, from: number, to: number): number[] {
  const found: number[] = []
  let shown = from - dayMs + offsets(from - dayMs)
  for (let instant = from - dayMs; instant < to; instant += minuteMs) {
    const local = instant + offsets(instant)
    let isDue = false
    for (; shown < local; ) {
      shown += minuteMs
      isDue ||= matches(sets, shown)
    }
    if (isDue && instant >= from) found.push(instant)
  }
  return found
}

function matches({ minutes, hours, days, months, weekdays }: Sets, local: number): boolean {
  if (!minutes.includes((local / minuteMs) % 60)) return false
  if (!hours.includes(Math.floor(local / hourMs) % 24)) return false
  const shown = new Date(local)
  if (!months.includes(shown.getUTCMonth() + 1)) return false
  const isDay = days.includes(shown.getUTCDate())
  const isWeekday = weekdays.includes(shown.getUTCDay())
  // As every cron has it: of two that are restricted, either is enough.
  const areBoth = days.length < 31 && weekdays.length < 7
  return areBoth ? isDay || isWeekday : isDay && isWeekday
}

function randomSets(random: Random): Sets {
  const part = (of: number[], chance: number) =>
    random.chance(chance) ? random.some(of, 1 + random.below(4)).sort((a, b) => a - b) : of
  return {
    minutes: random.chance(0.2) ? all(0, 59).filter((each) => each % 15 === 0) : part(whole.minutes, 0.9),
    // Clocks change at night.
    hours: random.chance(0.4) ? random.some(all(0, 4), 2).sort((a, b) => a - b) : part(whole.hours, 0.5),
    days: part(whole.days, 0.2),
    months: part(whole.months, 0.1),
    weekdays: part(whole.weekdays, 0.3),
  }
}

function textOf(sets: Sets, random: Random): string {
  const field = (of: number[], every: number[]) => {
    if (of.length === every.length) return '*'
    if (of.length === 4 && of.every((each, index) => each === 15 * index)) return '*/15'
    const isRange = of.length > 1 && of.every((each, index) => each === (of[0] ?? 0) + index)
    return isRange ? `${of[0]}-${of.at(-1)}` : of.join(',')
  }
  const names = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
  const weekdays = field(sets.weekdays, whole.weekdays)
  return [
    field(sets.minutes, whole.minutes),
    field(sets.hours, whole.hours),
    field(sets.days, whole.days),
    field(sets.months, whole.months),
    random.chance(0.5) ? weekdays.replace(/\d/g, (digit) => names[Number(digit)] ?? digit) : weekdays,
  ].join(' ')
}

test('a time in the gap runs at the first instant after it, one that comes twice runs once', () => {
  const berlin = (pattern: string, from: string, count: number) => {
    const cron = readCron(pattern, 'Europe/Berlin', 'when')
    const found: string[] = []
    let at = Date.parse(from)
    while (found.length < count) {
      at = cron.next(at) ?? Number.NaN
      found.push(toLocalText('Europe/Berlin', at))
    }
    return found
  }
  assert.deepEqual(berlin('30 2 * * *', '2027-03-27T12:00:00Z', 2), [
    '2027-03-28T03:00+02:00',
    '2027-03-29T02:30+02:00',
  ])
  assert.deepEqual(berlin('30 2 * * *', '2027-10-30T12:00:00Z', 2), [
    '2027-10-31T02:30+02:00',
    '2027-11-01T02:30+01:00',
  ])
  assert.deepEqual(berlin('*/30 * * * *', '2027-10-31T00:29:00Z', 2), [
    '2027-10-31T02:30+02:00',
    '2027-10-31T03:00+01:00',
  ])
})

test('what cannot be read is J-507, with a sentence', () => {
  const refused: [string, string, RegExp][] = [
    ['0 0 3 * * *', 'UTC', /6 fields; seconds and years are not supported/],
    ['0 0 3 * * * 2027', 'UTC', /7 fields/],
    ['0 3 * *', 'UTC', /5 fields .* not 4/],
    ['', 'UTC', /5 fields/],
    ['@yearly', 'UTC', /5 fields.*, or be one of @hourly, @daily, @weekly, @monthly/],
    ['61 * * * *', 'UTC', /minute: 61/],
    ['0 24 * * *', 'UTC', /hour: 24/],
    ['? * * * *', 'UTC', /character/],
    ['*/0 * * * *', 'UTC', /stepping/],
    ['5-1 * * * *', 'UTC', /larger/],
    ['0 0 31 2 *', 'UTC', /never occurs/],
    ['0 0 31 4,6,9,11 *', 'UTC', /never occurs/],
    ['0 3 * * *', 'Europe/Atlantis', /IANA time zone/],
    ['0 3 * * *', '+02:00', /IANA time zone/],
  ]
  for (const [pattern, zone, why] of refused) {
    assert.throws(
      () => readCron(pattern, zone, 'when'),
      (error) => error instanceof ApiError && error.code === 'J-507' && why.test(error.details.detail ?? ''),
      pattern,
    )
  }
})

test('names stand for patterns', () => {
  const next = (cron: string) => {
    const at = readCron(cron, 'Europe/Berlin', 'when').next(Date.parse('2026-11-18T10:20:00Z'))
    return new Date(at ?? 0).toISOString()
  }
  assert.deepEqual(['@hourly', '@daily', ' @weekly ', '@monthly'].map(next), [
    '2026-11-18T11:00:00.000Z',
    '2026-11-18T23:00:00.000Z',
    '2026-11-21T23:00:00.000Z',
    '2026-11-30T23:00:00.000Z',
  ])
})
