// Every rate is kept, whether or not it divides a minute.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rollout } from '@jobcast/contract'
import fc from 'fast-check'
import { type SteadyInstant, steadyInstant } from '../../../src/domain/common/instants.ts'
import {
  beginRollout,
  judgeRollout,
  pauseRollout,
  type RolloutStatus,
  resumeRollout,
} from '../../../src/domain/rollout/judge-rollout.ts'

const size = 1_000_000_000
const sizes = [size]
const start = 1_763_000_000_123
const tickMs = 500

/** A rollout driven like by its ticker: judged only when something has ended, or when it is due. */
class Driven {
  readonly #rollout: Rollout
  status: RolloutStatus
  #nextAt: SteadyInstant | null
  #succeeded = 0
  /** By when how many were released. */
  readonly released: { at: number; total: number }[] = []

  constructor(rollout: Rollout) {
    this.#rollout = rollout
    this.status = beginRollout(1, steadyInstant(start))
    this.#nextAt = steadyInstant(start)
  }

  facts(at: number, succeeded: number) {
    const run = { SUCCEEDED: succeeded }
    return {
      rollout: this.#rollout,
      sizes,
      run,
      wave: run,
      confirmed: 0,
      inFlight: 0,
      now: steadyInstant(at),
    }
  }

  tick(at: number, succeeded = 0): void {
    const isDue = this.#nextAt !== null && this.#nextAt <= at
    if (!isDue && succeeded === this.#succeeded) return
    this.#succeeded = succeeded
    const judged = judgeRollout(this.status, this.facts(at, succeeded))
    assert.ok(Number.isSafeInteger(judged.nextAt) && Number.isSafeInteger(judged.status.releasedAt))
    // It comes through the database as JSON.
    this.status = JSON.parse(JSON.stringify(judged.status))
    this.#nextAt = judged.nextAt
    this.released.push({ at, total: this.status.released })
  }

  pause(): void {
    this.status = pauseRollout(this.status, {
      rule: 'PRINCIPAL',
      because: 'it was paused manually',
      by: 'me',
    })
  }

  resume(at: number): void {
    this.status = resumeRollout(this.status, this.facts(at, 0))
    this.#nextAt = steadyInstant(at)
    this.tick(at)
  }

  /** How many were released in these ten seconds, `from` included. */
  within(from: number, ms = 10_000): number {
    const upTo = (at: number) => this.released.findLast((each) => each.at < at)?.total ?? 0
    return upTo(from + ms) - upTo(from)
  }
}

/** In ten seconds within 10 % of the rate; executions are whole, so one more or one less is right at any rate. */
function assertKeeps(perMinute: number, count: number, what: string): void {
  const expected = perMinute / 6
  const off = Math.max(1, expected / 10)
  assert.ok(Math.abs(count - expected) <= off, `${what}: ${count} in 10 s at ${perMinute} a minute`)
}

function driveEvenly(rollout: Rollout, seconds: number): Driven {
  const driven = new Driven(rollout)
  for (let at = start; at < start + seconds * 1000; at += tickMs) driven.tick(at)
  return driven
}

const everyRate = Array.from({ length: 1000 }, (_, index) => index + 1)
const largerRates = fc.sample(fc.integer({ min: 1001, max: 1_000_000 }), { numRuns: 100, seed: 30 })

test('every rate from 1 to 1,000 and larger ones release within 10 % of the rate in every 10 s', () => {
  for (const perMinute of [...everyRate, ...largerRates]) {
    const driven = driveEvenly({ ratePerMinute: perMinute }, 40)
    for (let from = start; from <= start + 29_000; from += tickMs) {
      assertKeeps(perMinute, driven.within(from), `from ${from - start} ms`)
    }
  }
})

test('no rate drifts: an hour releases what the rate says', () => {
  for (const perMinute of [1, 7, 45, 90, 180, 333, 700, 900, 999, 7777]) {
    const { total = 0 } = driveEvenly({ ratePerMinute: perMinute }, 3600).released.at(-1) ?? {}
    const most = Math.ceil(perMinute / 60 / (1000 / tickMs)) + 1
    assert.ok(Math.abs(total - perMinute * 60) <= most, `${total} in an hour at ${perMinute} a minute`)
  }
})

test('the first execution is released at once at every rate', () => {
  for (const perMinute of [...everyRate, ...largerRates]) {
    const driven = new Driven({ ratePerMinute: perMinute })
    driven.tick(start)
    assert.equal(driven.status.released, 1, `at ${perMinute} a minute`)
  }
})

test('a rate that grows is kept as well, whatever the factor', () => {
  const rates = fc.integer({ min: 1, max: 1000 })
  const growth = fc.record({
    factor: fc.double({ min: 1.1, max: 10, noNaN: true }),
    afterSucceeded: fc.integer({ min: 1, max: 50 }),
  })
  fc.assert(
    fc.property(rates, growth, fc.nat(3), (ratePerMinute, growth, steps) => {
      const driven = new Driven({ ratePerMinute, growth })
      const grown = start + 30_000
      for (let at = start; at < grown; at += tickMs) driven.tick(at)
      for (let at = grown; at < grown + 30_000; at += tickMs) {
        driven.tick(at, steps * growth.afterSucceeded)
      }
      const perMinute = Math.min(ratePerMinute * growth.factor ** steps, 60_000_000)
      assertKeeps(ratePerMinute, driven.within(start + 10_000), 'before it has grown')
      assertKeeps(perMinute, driven.within(grown + 10_000), 'once it has grown')
      const atOnce = driven.within(grown, 1)
      assert.ok(atOnce <= perMinute / 60 + 1, `${atOnce} at once at ${perMinute} a minute`)
    }),
    { numRuns: 100 },
  )
})

test('a pause is not made up for when it is resumed', () => {
  for (const perMinute of [1, 7, 45, 60, 333, 600, 1000, 7777]) {
    for (const pausedMs of [200, 1000, 10_000, 3_600_000]) {
      const driven = driveEvenly({ ratePerMinute: perMinute }, 15)
      driven.pause()
      const before = driven.status.released
      const resumed = start + 15_000 + pausedMs
      driven.resume(resumed)
      const what = `resumed after ${pausedMs} ms`
      assert.ok(driven.status.released <= before + 1, `${what}: ${driven.status.released - before} at once`)
      for (let at = resumed + tickMs; at < resumed + 20_000; at += tickMs) driven.tick(at)
      assertKeeps(perMinute, driven.within(resumed), what)
      assertKeeps(perMinute, driven.within(resumed + 5000), what)
    }
  }
})

test('what is due when a run is resumed is released then, not an interval later', () => {
  const driven = driveEvenly({ ratePerMinute: 1 }, 5)
  driven.pause()
  driven.resume(start + 50_000)
  assert.equal(driven.status.released, 1)
  driven.tick(start + 59_999)
  assert.equal(driven.status.released, 1)
  driven.tick(start + 60_000)
  assert.equal(driven.status.released, 2)
  driven.pause()
  driven.resume(start + 600_000)
  assert.equal(driven.status.released, 3)
})

test('the time for which no node was there is not made up for', () => {
  for (const perMinute of [1, 7, 45, 60, 333, 600, 1000, 7777]) {
    for (const awayMs of [1500, 8000, 60_000, 3_600_000]) {
      const driven = driveEvenly({ ratePerMinute: perMinute }, 15)
      const back = start + 15_000 + awayMs
      for (let at = back; at < back + 20_000; at += tickMs) driven.tick(at)
      assertKeeps(perMinute, driven.within(back), `after ${awayMs} ms`)
    }
  }
})

test('a tick that is late loses nothing of the rate', () => {
  const lateness = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 200, maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), lateness, (perMinute, late) => {
      const driven = new Driven({ ratePerMinute: perMinute })
      let last = start
      for (const [index, ms] of late.entries()) {
        last = start + index * tickMs + ms
        driven.tick(last)
      }
      const expected = 1 + ((last - start) * perMinute) / 60_000
      const most = 2 + perMinute / 60
      assert.ok(Math.abs(driven.status.released - expected) <= most, `at ${perMinute} a minute`)
    }),
    { numRuns: 200 },
  )
})
