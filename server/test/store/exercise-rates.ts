// Every rate is released on every store: what the rule decides (test/domain/rollout/pace-release.test.ts) can be written.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Rollout } from '@jobcast/contract'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { testSize } from '@jobcast/testkit/test-size'
import { RolloutTicker } from '../../src/dispatch/rollout-ticker.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceLink } from '../../src/domain/device/ports/device-link.ts'
import { ChangeSignal } from '../../src/state/change-signal.ts'
import { WaveCounts } from '../../src/state/wave-counts.ts'
import {
  bringTo,
  momentAt,
  runOf,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const nobody: DeviceLink = {
  ...{ wake: () => {}, launched: () => {}, released: () => {} },
  ...{ withdraw: () => {}, disconnect: () => {} },
}

/** A ticker at instants of the test's choice; it fails where a write does. */
function openTicker(store: Store): { tickAt(ms: number): Promise<void> } {
  let now = momentAt(startedAt)
  const failures: unknown[] = []
  const changes = new ChangeSignal()
  const waveCounts = new WaveCounts(store, () => 0)
  const stopping = new AbortController().signal
  const ticker = new RolloutTicker(
    {
      ...{ store, changes, waveCounts, stopping, link: nobody },
      countConfirmed: async () => 0,
      moment: () => now,
      onFailure: (error: unknown) => failures.push(error),
      onDone: () => {},
    },
    nobody,
  )
  return {
    async tickAt(ms) {
      now = momentAt(startedAt + ms)
      await ticker.tick()
      await ticker.quiet()
      assert.deepEqual(failures, [])
    },
  }
}

/** A run of three devices for each. */
async function launchAll(store: Store, seed: Seed, rollouts: Rollout[]) {
  const triggers = rollouts.map((rollout) =>
    seed.trigger(['d1', 'd2', 'd3'], {
      plan: { jobVersion: null, rollout, approval: false, sizes: [3] },
    }),
  )
  return (await store.createExecutions(triggers)).map(runOf)
}

async function releasedOf(store: Store, { ownerNo }: Seed, runs: { runId: number }[]): Promise<number[]> {
  const found = await store.listRollouts({ ownerNo, runIds: runs.map(({ runId }) => runId) })
  const byId = new Map(found.map(({ runId, status }) => [runId, status.released]))
  return runs.map(({ runId }) => byId.get(runId) ?? -1)
}

export async function exerciseRates(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('each rate from 1 to 1,000 releases what it says', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { tickAt } = openTicker(store)
    // Every seventh: a few divide a minute, most do not. The rule itself is tested with all of them.
    const step = testSize('rateStep', { test: 41, chaos: 1 })
    const rates = Array.from({ length: Math.ceil(1000 / step) }, (_, index) => 1 + index * step)
    const runs = await launchAll(
      store,
      seed,
      rates.map((ratePerMinute) => ({ ratePerMinute })),
    )
    await tickAt(0)
    assert.deepEqual(
      await releasedOf(store, seed, runs),
      rates.map(() => 1),
    )
    await tickAt(500)
    const afterHalfASecond = rates.map((rate) => 1 + Math.min(2, Math.floor(rate / 120)))
    assert.deepEqual(await releasedOf(store, seed, runs), afterHalfASecond)
    await tickAt(60_000)
    // One that has been due for long is not made up for.
    const afterAMinute = rates.map((rate) => (rate < 60 ? 2 : 3))
    assert.deepEqual(await releasedOf(store, seed, runs), afterAMinute)
  })

  await chaosSubtest(t, 'a rate that grows by any factor continues', async () => {
    const { store } = underTest
    const seed = await seedOwner(store)
    const { tickAt } = openTicker(store)
    const factors = [1.1, 1.37, 2, 3.3, 7.77, 10]
    const rates = [1, 7, 45, 60, 90, 333]
    const rollouts = rates.flatMap((ratePerMinute) =>
      factors.map((factor) => ({ ratePerMinute, growth: { factor, afterSucceeded: 1 } })),
    )
    const runs = await launchAll(store, seed, rollouts)
    await tickAt(0)
    for (const { firstExecutionId } of runs) {
      await bringTo(store, seed.ownerNo, firstExecutionId, 'SUCCEEDED')
    }
    await tickAt(100)
    for (let ms = 500; ms <= 256_000; ms *= 2) await tickAt(ms)
    assert.deepEqual(
      await releasedOf(store, seed, runs),
      rollouts.map(() => 3),
    )
  })
}
