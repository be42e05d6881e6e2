import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptClock } from '../../src/state/kept-clock.ts'
import { SteadyClock } from '../../src/state/steady-clock.ts'
import { openSqliteUnderTest } from '../store/sqlite-under-test.ts'

test('after a crash the clock continues from where it was, whatever was done to the wall clock', async (t) => {
  const { store } = await openSqliteUnderTest(t)
  let [wall, passed] = [1000, 0]
  const now = () => wall
  const start = async () => {
    const steady = new SteadyClock(now, () => passed)
    const kept = new KeptClock({ store, steady, now })
    await kept.resume()
    await kept.recordIfDue()
    return { steady, kept }
  }
  const first = await start()
  assert.equal(first.steady.now(), 1000, 'a new one begins at the wall clock')
  // Corrected by a year: recorded at once, though little time has passed.
  passed += 1000
  wall += 1000 + 365 * 86_400_000
  await first.kept.recordIfDue()
  assert.equal(first.steady.now(), 2000)
  // Less than that is recorded once in a while only, since the wall clock says how long ago it was.
  passed += 5000
  wall += 5000
  await first.kept.recordIfDue()
  assert.deepEqual((await store.getSteadyClock()).clock, 2000)
  wall += 60_000
  const second = await start()
  assert.equal(second.steady.now(), 67_000, 'what passed while it was down has passed')
  wall = 5
  const third = await start()
  assert.equal(third.steady.now(), 67_000, 'a wall clock that is behind says nothing')
  passed += 31_000
  wall += 31_000
  await third.kept.recordIfDue()
  assert.deepEqual(await store.getSteadyClock(), { clock: 98_000, at: 31_005 })
})
