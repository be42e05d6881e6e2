import assert from 'node:assert/strict'
import test from 'node:test'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import {
  fleetZones,
  holderKey,
  type OfferChange,
  OfferHistory,
} from '../../../src/domain/window/offer-history.ts'
import { offeredFor } from '../../../src/domain/window/offered-for.ts'
import { WindowTimes } from '../../../src/domain/window/window-times.ts'

const ownerNo = 1
const at = steadyInstant
const change = (windowName: string, clock: number, openZones: string): OfferChange => ({
  ...{ ownerNo, windowName, clock: at(clock), openZones },
})
const holder = (...windows: string[]) => ({ ownerNo, windows, zone: 'UTC' })

test('without a history only a window holds back, which is closed until it is known', () => {
  const history = new OfferHistory([])
  assert.equal(history.heldMs(holder(), at(0), at(100)), 0)
  assert.equal(history.isHeld(holder()), false)
  assert.equal(history.heldMs(holder('w'), at(0), at(100)), 100)
  assert.equal(history.isHeld(holder('w')), true)
})

test('time counts as held back while one of the windows is closed in the zone, or the fleet is frozen', () => {
  const history = new OfferHistory([
    change('', 60, fleetZones(true)),
    change('', 70, fleetZones(false)),
    change('a', 0, '|UTC|'),
    change('a', 50, '|Asia/Tokyo|'),
    change('a', 55, '|Asia/Tokyo|UTC|'),
    change('b', 10, '|*|'),
    change('b', 90, ''),
  ])
  assert.equal(history.heldMs(holder('a'), at(0), at(100)), 5 + 10)
  assert.equal(history.heldMs(holder('a', 'b'), at(0), at(100)), 10 + 5 + 10 + 10)
  assert.equal(history.heldMs(holder('a', 'b'), at(52), at(65)), 3 + 5)
  assert.equal(history.heldMs(holder('a', 'b'), at(95), at(90)), 0)
  assert.deepEqual([history.isHeld(holder('a')), history.isHeld(holder('a', 'b'))], [false, true])
  const other = { ownerNo: 2, windows: [], zone: 'UTC' }
  assert.equal(history.heldMs(other, at(0), at(100)), 0)
})

test('a window of a device holds back only while it applies to the device', () => {
  const history = new OfferHistory([change('a', 0, ''), change('a', 80, '|UTC|'), change('b', 0, '|UTC|')])
  const under = (windowName: string, since: number, until: number | null) => ({
    ...holder('b'),
    ofDevice: [{ windowName, since: at(since), until: until === null ? null : at(until) }],
  })
  assert.equal(history.heldMs(under('a', 10, 30), at(0), at(100)), 20)
  assert.equal(history.isHeld(under('a', 10, 30)), false)
  assert.equal(history.heldMs(under('a', 10, null), at(0), at(100)), 70)
  assert.equal(history.isHeld(under('b', 10, null)), false)
  assert.equal(history.isHeld(under('unknown', 10, null)), true)
  // Those that came before what is judged, or ended before it, are alike.
  assert.equal(holderKey(under('a', 10, null), at(20)), holderKey(under('a', 15, null), at(20)))
  assert.notEqual(holderKey(under('a', 10, null), at(20)), holderKey(under('a', 25, null), at(20)))
  assert.equal(holderKey(under('a', 10, 15), at(20)), holderKey(holder('b'), at(20)))
})

test('what is offered in several windows is offered where all of them are open', () => {
  const times = (cron: string, durationMinutes: number) =>
    new WindowTimes({ cron, durationMinutes, cutoffMinutes: 0, except: [] }, 'UTC')
  const night = times('0 2 * * *', 120)
  const early = times('0 3 * * *', 120)
  const noon = Date.UTC(2026, 10, 15, 12)
  const minute = 60_000
  const text = (end: number | undefined) => end && new Date(end).toISOString().slice(0, 16)
  assert.equal(text(offeredFor([], 5 * minute, noon)), '2026-11-15T12:05')
  assert.equal(text(offeredFor([night], 60 * minute, noon)), '2026-11-16T03:00')
  assert.equal(text(offeredFor([night, early], 60 * minute, noon)), '2026-11-16T04:00')
  assert.equal(text(offeredFor([early, night], 90 * minute, noon)), '2026-11-17T03:30')
  assert.equal(text(offeredFor([night], 60 * minute, Date.UTC(2026, 10, 15, 3, 30))), '2026-11-16T02:30')
  assert.equal(offeredFor([night, times('0 12 * * *', 60)], minute, noon), undefined)
})
