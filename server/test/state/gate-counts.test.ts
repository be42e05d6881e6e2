import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { GateCount } from '../../src/domain/rollout/ports/gate-counts.ts'
import type { StoredRollout } from '../../src/domain/rollout/rollout.ts'
import { GateCounts } from '../../src/state/gate-counts.ts'

const rolloutIn = (wave: number) =>
  ({ runId: 1, status: { wave }, plan: { sizes: [5, 5], rollout: {} } }) as unknown as StoredRollout

function open({ takesMs }: { takesMs: number }) {
  const clock = { ms: 0, reads: 0 }
  const count = async () => {
    clock.ms += takesMs
    return { offline: ++clock.reads, confirmed: 0 }
  }
  return { clock, counts: new GateCounts(count, () => clock.ms) }
}

test('fast counts are repeated each time', async () => {
  const { clock, counts } = open({ takesMs: 1 })
  for (let time = 1; time <= 3; time++) assert.equal((await counts.recent(rolloutIn(0))).offline, time)
  assert.equal(clock.reads, 3)
})

test('slow counts take at most a twentieth of the time, and are repeated at least every five seconds', async () => {
  const { clock, counts } = open({ takesMs: 100 })
  await counts.recent(rolloutIn(0))
  clock.ms += 1999
  assert.equal((await counts.recent(rolloutIn(0))).offline, 1)
  clock.ms += 2
  assert.equal((await counts.recent(rolloutIn(0))).offline, 2)
  assert.equal((await counts.recent(rolloutIn(1))).offline, 3, 'another wave has other devices')
  const slow = open({ takesMs: 10_000 })
  await slow.counts.recent(rolloutIn(0))
  slow.clock.ms += 5001
  assert.equal((await slow.counts.recent(rolloutIn(0))).offline, 2)
})

test('a failed count is repeated', async () => {
  let fails = true
  const counts = new GateCounts(
    async () => {
      if (fails) throw new Error('no database')
      return { offline: 1, confirmed: 0 }
    },
    () => 0,
  )
  await assert.rejects(counts.recent(rolloutIn(0)), /no database/)
  fails = false
  assert.equal((await counts.recent(rolloutIn(0))).offline, 1)
})

function openHeld() {
  const clock = { ms: 0 }
  const held: PromiseWithResolvers<GateCount>[] = []
  const count = () => {
    held.push(Promise.withResolvers<GateCount>())
    return held.at(-1)?.promise ?? assert.fail()
  }
  const end = async (index: number) => {
    held[index]?.resolve({ offline: index, confirmed: 0 })
    await setImmediate()
  }
  return { clock, held, end, counts: new GateCounts(count, () => clock.ms) }
}

test('concurrent requests share one count that begins after them', async () => {
  const { held, end, counts } = openHeld()
  const first = counts.recent(rolloutIn(0))
  const later = [1, 2, 3].map(() => counts.recent(rolloutIn(0)))
  assert.equal(held.length, 1, 'one count at a time')
  await end(0)
  assert.equal((await first).offline, 0)
  assert.equal(held.length, 2, 'a brief count that began before they asked may lack what they have done')
  await end(1)
  for (const { offline } of await Promise.all(later)) assert.equal(offline, 1)
  assert.equal(held.length, 2)
})

test('requests during a slow count share it, from its beginning or later', async () => {
  const { clock, held, end, counts } = openHeld()
  const asked = [counts.recent(rolloutIn(0)), counts.recent(rolloutIn(0))]
  clock.ms = 6
  asked.push(counts.recent(rolloutIn(0)))
  clock.ms = 300
  assert.equal(held.length, 1)
  await end(0)
  for (const { offline } of await Promise.all(asked)) assert.equal(offline, 0)
  assert.equal(held.length, 1)
})

test('a count that began more than five seconds ago is not shared', () => {
  const { clock, held, counts } = openHeld()
  counts.recent(rolloutIn(0))
  clock.ms = 5001
  counts.recent(rolloutIn(0))
  assert.equal(held.length, 2)
})

test('a request that waits for a failed count gets another one', async () => {
  const { held, end, counts } = openHeld()
  const first = assert.rejects(counts.recent(rolloutIn(0)), /no database/)
  const second = counts.recent(rolloutIn(0))
  held[0]?.reject(new Error('no database'))
  await first
  await setImmediate()
  await end(1)
  assert.equal((await second).offline, 1)
})
