// Instants of the two clocks cannot be mixed, which the compiler checks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  instantToPurgeAt,
  laterBy,
  latest,
  onWallClock,
  resumeClock,
  type SteadyInstant,
  steadyInstant,
  type WallInstant,
} from '../../../src/domain/common/instants.ts'
import { SteadyClock } from '../../../src/state/steady-clock.ts'

const wantsWall = (instant: WallInstant) => instant
const wantsSteady = (instant: SteadyInstant) => instant

test('mixing the clocks does not type-check', () => {
  const steady = steadyInstant(5)
  const wall: WallInstant = 7
  assert.deepEqual([wantsWall(wall), wantsSteady(steady)], [7, 5])
  // @ts-expect-error an instant of the steady clock is none of the wall clock
  wantsWall(steady)
  // @ts-expect-error an instant of the wall clock is none of the steady clock
  wantsSteady(wall)
  // @ts-expect-error no number is an instant of the steady clock by itself
  wantsSteady(5)
  // @ts-expect-error nor is what was reckoned with one
  wantsSteady(steady + 1)
})

test('an instant to come is as far away on the wall clock as it is on the steady one, however that is set', () => {
  let wall = 1_000_000
  let elapsed = 0
  const clock = new SteadyClock(
    () => wall,
    () => elapsed,
  )
  const due = laterBy(60_000, clock.now())
  for (const [jump, passed] of [
    [0, 0],
    [3_600_000, 0],
    [-7_200_000, 10_000],
    [0, 60_000],
  ] as const) {
    wall += jump
    elapsed += passed
    const left = (onWallClock(due, { at: wall, clock: clock.now() }) ?? 0) - wall
    assert.equal(left, 60_000 - elapsed)
  }
  assert.equal(onWallClock(null, { at: wall, clock: clock.now() }), null)
})

test('the latest of two instants, of which one may be missing', () => {
  const [one, two] = [steadyInstant(1), steadyInstant(2)]
  assert.deepEqual([latest(one, two), latest(two, one), latest(one, undefined)], [2, 2, 1])
})

test('a recorded clock continues by what has passed on the wall, and never goes back', () => {
  const recorded = { clock: steadyInstant(500), at: 90_000 }
  assert.equal(resumeClock(recorded, 91_000), 1500)
  assert.equal(resumeClock(recorded, 5), 500)
  assert.equal(resumeClock({ clock: steadyInstant(0), at: 0 }, 77), 77)
})

test('nothing is purged while the clocks of node and database differ by minutes', () => {
  assert.equal(instantToPurgeAt(1_000_000, 1_200_000), 1_000_000)
  for (const own of [1_000_000 + 3_600_000, 1_000_000 - 360_000]) {
    assert.throws(() => instantToPurgeAt(1_000_000, own), /differ by (60|6) minutes/)
  }
})
