import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseWatch } from '../../src/state/database-watch.ts'

function build() {
  const clock = { ms: 0 }
  const watch = new DatabaseWatch(() => clock.ms)
  watch.check()
  return {
    watch,
    /** One check a second; gives what each said. */
    silentFor(seconds: number): boolean[] {
      return Array.from({ length: seconds }, () => {
        clock.ms += 1000
        return watch.check()
      })
    },
    standStill(ms: number) {
      clock.ms += ms
    },
  }
}

test('a database that responds within five seconds is available', () => {
  const { watch, silentFor } = build()
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(silentFor(4), [false, false, false, false])
    watch.answered()
  }
  assert.equal(watch.isAway, false)
})

test('after five seconds without a response it is unavailable, until it responds', () => {
  const { watch, silentFor } = build()
  assert.deepEqual(silentFor(5), [false, false, false, false, true])
  assert.equal(watch.isAway, true)
  // Attempts made since then are given up after as long.
  assert.deepEqual(silentFor(5), [false, false, false, false, true])
  assert.equal(watch.isAway, true)
  watch.answered()
  assert.equal(watch.isAway, false)
  assert.deepEqual(silentFor(4), [false, false, false, false])
})

test('a suspended node does not consider the database unavailable', () => {
  const { watch, silentFor, standStill } = build()
  silentFor(3)
  standStill(60_000)
  assert.equal(watch.check(), false)
  assert.deepEqual(silentFor(5), [false, false, false, false, true])
})
