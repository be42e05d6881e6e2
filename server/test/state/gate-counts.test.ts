import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('what is counted quickly is counted each time', async () => {
  const { clock, counts } = open({ takesMs: 1 })
  for (let time = 1; time <= 3; time++) assert.equal((await counts.recent(rolloutIn(0))).offline, time)
  assert.equal(clock.reads, 3)
})

test('what takes long is counted for a twentieth of the time, and at least every five seconds', async () => {
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

test('a count that fails is tried again', async () => {
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
