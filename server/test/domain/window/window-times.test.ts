import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf, localTime } from '@jobcast/contract/cron'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { readCron } from '../../../src/domain/schedule/cron-pattern.ts'
import { JudgedZones } from '../../../src/domain/window/judge-windows.ts'
import { isOpenIn, newlyOpen } from '../../../src/domain/window/open-zones.ts'
import type { WindowRule } from '../../../src/domain/window/ports/windows.ts'
import { WindowTimes } from '../../../src/domain/window/window-times.ts'

const minuteMs = 60_000
const dayMs = 1440 * minuteMs
const at = (text: string) => Date.parse(text)
const nights: WindowRule = {
  cron: '0 2 * * *',
  durationMinutes: 180,
  timeZone: 'device',
  cutoffMinutes: 30,
  except: [],
}
const show = (rule: WindowRule, zone: string, after: string) => {
  const opening = new WindowTimes(rule, zone).opening(at(after))
  const text = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  return opening && [text(opening.from), text(opening.offersUntil), text(opening.until)]
}

test('a window opens at the times of its pattern in the zone, and offers nothing in its last minutes', () => {
  const berlin = ['2026-12-01T01:00', '2026-12-01T03:30', '2026-12-01T04:00']
  assert.deepEqual(show(nights, 'Europe/Berlin', '2026-11-30T12:00Z'), berlin)
  assert.deepEqual(show(nights, 'Europe/Berlin', '2026-12-01T03:59Z'), berlin)
  assert.equal(show(nights, 'Europe/Berlin', '2026-12-01T04:00Z')?.[0], '2026-12-02T01:00')
  assert.equal(show(nights, 'America/Lima', '2026-12-01T04:00Z')?.[0], '2026-12-01T07:00')
})

test('a local time that does not exist opens after the gap; one that comes twice opens once; minutes are those that pass', () => {
  const early = { ...nights, cron: '30 2 * * *', durationMinutes: 60, cutoffMinutes: 0 }
  assert.deepEqual(show(early, 'Europe/Berlin', '2027-03-27T12:00Z'), [
    '2027-03-28T01:00',
    '2027-03-28T02:00',
    '2027-03-28T02:00',
  ])
  assert.deepEqual(show(early, 'Europe/Berlin', '2026-10-24T12:00Z'), [
    '2026-10-25T00:30',
    '2026-10-25T01:30',
    '2026-10-25T01:30',
  ])
  // The clocks show 02:30 for the second time.
  assert.equal(show(early, 'Europe/Berlin', '2026-10-25T01:30Z')?.[0], '2026-10-26T01:30')
})

test('an exception closes local dates: also what reaches into them over midnight, and the cutoff comes before that', () => {
  const late = { ...nights, cron: '0 22 * * *', durationMinutes: 300, except: ['2026-12-24/2026-12-26'] }
  assert.deepEqual(show(late, 'UTC', '2026-12-23T12:00Z'), [
    '2026-12-23T22:00',
    '2026-12-23T23:30',
    '2026-12-24T00:00',
  ])
  assert.deepEqual(show(late, 'UTC', '2026-12-24T00:00Z'), [
    '2026-12-27T00:00',
    '2026-12-27T02:30',
    '2026-12-27T03:00',
  ])
  const decade = { ...nights, cron: '* * * * *', except: ['2026-01-01/2036-12-31'] }
  assert.equal(show(decade, 'UTC', '2026-12-24T00:00Z')?.[0], '2037-01-01T00:00')
})

test('openings without a gap between them are one; one that never closes offers all the time', async () => {
  const hourly = { ...nights, cron: '0 8-10 * * *', durationMinutes: 60 }
  assert.deepEqual(show(hourly, 'UTC', '2026-12-01T00:00Z'), [
    '2026-12-01T08:00',
    '2026-12-01T10:30',
    '2026-12-01T11:00',
  ])
  const always = new JudgedZones({ ...nights, cron: '0 * * * *', durationMinutes: 90, timeZone: 'UTC' })
  for (let now = at('2026-12-01T00:00Z'); now < at('2026-12-05T00:00Z'); now += minuteMs) {
    assert.equal(await always.judge([], now), '|*|', new Date(now).toISOString())
  }
})

test('the next offer passes an opening that its cutoff uses up', () => {
  const cut = {
    ...nights,
    cron: '0 22 * * *',
    durationMinutes: 300,
    cutoffMinutes: 150,
    except: ['2026-12-24'],
  }
  const next = new WindowTimes(cut, 'UTC').nextOffer(at('2026-12-23T21:00Z'))
  assert.equal(next?.from, at('2026-12-25T00:00Z'))
  const over = { ...nights, except: ['2026-01-01/9999-12-31'] }
  assert.equal(new WindowTimes(over, 'UTC').nextOffer(at('2026-12-23T21:00Z')), undefined)
})

test('zones are judged each on its own, also after the clock was set back', async () => {
  const zones = ['Europe/Berlin', 'America/Lima']
  const judged = new JudgedZones(nights)
  assert.equal(await judged.judge(zones, at('2026-12-01T01:00Z')), '|Europe/Berlin|')
  assert.equal(await judged.judge(zones, at('2026-12-01T03:00Z')), '|Europe/Berlin|UTC|')
  assert.equal(await judged.judge(zones, at('2026-12-01T03:30Z')), '|UTC|')
  assert.equal(await judged.judge(zones, at('2026-12-01T07:00Z')), '|America/Lima|')
  assert.equal(await judged.judge(zones, at('2026-12-01T01:30Z')), '|Europe/Berlin|')
  assert.equal(
    await new JudgedZones({ ...nights, timeZone: 'Asia/Tokyo' }).judge(zones, at('2026-12-01T01:00Z')),
    '',
  )
  assert.ok(isOpenIn('|Europe/Berlin|UTC|', 'UTC') && !isOpenIn('|Etc/UTC|', 'UTC') && isOpenIn('|*|', 'UTC'))
  assert.deepEqual(newlyOpen('|America/Lima|UTC|', '|UTC|'), ['America/Lima'])
  assert.equal(newlyOpen('|*|', ''), undefined)
  assert.deepEqual([newlyOpen('|*|', '|*|'), newlyOpen('', '|UTC|')], [[], []])
})

/** Minute by minute, as the documentation says it. */
function referenceOf(
  { cron, durationMinutes, cutoffMinutes, except }: WindowRule,
  zone: string,
  from: number,
  to: number,
) {
  const pattern = readCron(cron, zone, '')
  const open = new Set<number>()
  const first = from - 2 * dayMs
  for (
    let begin = pattern.next(first);
    begin !== undefined && begin < to + dayMs;
    begin = pattern.next(begin)
  ) {
    for (let minute = 0; minute < durationMinutes; minute++) open.add(begin + minute * minuteMs)
  }
  const ranges = except.map((text) => text.split('/').map((date) => dayOf(date) ?? 0))
  for (const instant of open) {
    const day = Math.floor(localTime(zone, instant) / dayMs)
    if (ranges.some(([one = 0, other = one]) => one <= day && day <= other)) open.delete(instant)
  }
  return (instant: number) => {
    for (let minute = 0; minute <= cutoffMinutes; minute++)
      if (!open.has(instant + minute * minuteMs)) return false
    return true
  }
}

test(`random windows are open exactly when they are minute by minute, over both changes of the clocks (seed ${testSeed})`, async () => {
  const { pick } = seededRandom(testSeed)
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'Asia/Kolkata',
    'UTC',
  ]
  const patterns = [
    '0 2 * * *',
    '30 2 * * *',
    '0 23 * * 6',
    '15 0 * * *',
    '*/40 1-3 * * *',
    '0 */5 * * *',
    '59 23 * * 0',
  ]
  const changes = [
    '2026-03-28',
    '2026-10-24',
    '2026-04-04',
    '2026-10-03',
    '2026-11-01',
    '2026-10-29',
    '2026-04-23',
  ]
  for (let turn = 0; turn < 30; turn++) {
    const zone = pick(zones)
    const durationMinutes = pick([1, 30, 90, 180, 600, 1440])
    const change = pick(changes)
    const rule: WindowRule = {
      cron: pick(patterns),
      durationMinutes,
      timeZone: 'device',
      cutoffMinutes: pick([0, Math.floor(durationMinutes / 3)]),
      except: pick([[], [change], [`${change}/2026-12-31`], ['2026-01-01/2026-03-29', change]]),
    }
    const [from, to] = [at(`${change}T00:00Z`) - dayMs, at(`${change}T00:00Z`) + 3 * dayMs]
    const isOffered = referenceOf(rule, zone, from, to)
    const judged = new JudgedZones(rule)
    for (let now = from; now < to; now += minuteMs) {
      const found = isOpenIn(await judged.judge([zone], now), zone)
      if (found !== isOffered(now)) {
        assert.equal(
          found,
          isOffered(now),
          `${JSON.stringify(rule)} in ${zone} at ${new Date(now).toISOString()}`,
        )
      }
    }
  }
})
