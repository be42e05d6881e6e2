// Counts of waves are the same as counted one by one, whatever was counted before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execStates } from '@jobcast/contract/words'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { isTerminal } from '../../../src/domain/execution/execution.ts'
import { countWaves } from '../../../src/domain/rollout/count-waves.ts'
import { beginRollout } from '../../../src/domain/rollout/judge-rollout.ts'
import type { StateCounts } from '../../../src/domain/rollout/ports/rollouts.ts'
import type { StoredRollout } from '../../../src/domain/rollout/rollout.ts'
import { waveParts } from '../../../src/domain/rollout/rollout.ts'
import { WaveCounts } from '../../../src/state/wave-counts.ts'

const sizes = [2, 7, 20, 3, 9]
const total = 41

class Model {
  readonly states = Array.from({ length: total }, () => 'PENDING' as (typeof execStates)[number])
  released = 0
  counted = 0

  count(from: number, to: number): StateCounts {
    const counts = Object.fromEntries(execStates.map((state) => [state, 0])) as StateCounts
    for (const state of this.states.slice(from, to)) counts[state]++
    return counts
  }

  async countRunParts({ parts }: { parts: { from: number; to: number }[] }) {
    for (const { from, to } of parts) this.counted += to - from
    return { run: this.count(0, total), parts: parts.map(({ from, to }) => this.count(from, to)) }
  }

  get rollout(): StoredRollout {
    const status = { ...beginRollout(sizes.length, steadyInstant(0)), released: this.released }
    const plan = { rollout: {}, approval: false, sizes, expireAfterSeconds: null, deadlineSeconds: null }
    return {
      runId: 1,
      ownerNo: 1,
      firstExecutionId: 1,
      total,
      version: 1,
      nextAt: null,
      plan,
      status,
      startAt: null,
    }
  }
}

test('all waves are counted correctly while executions change', async () => {
  const random = seededRandom(testSeed)
  for (let round = 0; round < 100; round++) {
    const model = new Model()
    const ended = new Map<number, StateCounts>()
    for (let step = 0; step < 60; step++) {
      if (random.below(4) === 0) model.released = Math.min(total, model.released + random.below(10))
      // Now and then one is canceled that was never released.
      const reach = random.below(30) === 0 ? total : model.released
      const at = random.below(Math.max(1, reach))
      if (at < reach && !isTerminal(model.states[at] ?? 'PENDING')) {
        const next = at < model.released ? execStates[random.below(execStates.length)] : 'CANCELED'
        model.states[at] = next ?? 'PENDING'
      }
      const run = model.count(0, total)
      const found = await countWaves(model, model.rollout, run, ended)
      assert.deepEqual(
        found,
        waveParts(sizes).map(({ from, to }) => model.count(from, to)),
      )
    }
  }
})

test('two concurrent counts and a later one have the same result', async () => {
  const model = new Model()
  model.released = total
  model.states.fill('CANCELED', 9, 29)
  const ended = new Map<number, StateCounts>()
  const count = () => countWaves(model, model.rollout, model.count(0, total), ended)
  const expected = waveParts(sizes).map(({ from, to }) => model.count(from, to))
  assert.deepEqual(await Promise.all([count(), count()]), [expected, expected])
  assert.deepEqual(await count(), expected)
})

test('what has ended is not counted again, nor the largest wave; what costs is shown a while longer', async () => {
  const model = new Model()
  let now = 0
  const slow = {
    async countRunParts(asked: Parameters<Model['countRunParts']>[0]) {
      now += 100
      return model.countRunParts(asked)
    },
  }
  const waves = new WaveCounts(slow, () => now)
  model.released = total
  model.states.fill('SUCCEEDED', 0, 9)
  const shown = async () =>
    (await waves.recent(model.rollout, model.count(0, total))).map((each) => each.SUCCEEDED)
  assert.deepEqual(await shown(), [2, 7, 0, 0, 0])
  assert.equal(model.counted, 2 + 7 + 3 + 9)
  model.states[40] = 'SUCCEEDED'
  assert.deepEqual(await shown(), [2, 7, 0, 0, 0], 'it is some seconds old')
  now += 2000
  assert.deepEqual(await shown(), [2, 7, 0, 0, 1])
  assert.equal(model.counted, 2 + 7 + 2 * (3 + 9), 'the first two have ended')
  model.states[39] = 'SUCCEEDED'
  const exact = await waves.now(model.rollout, model.count(0, total))
  assert.equal(exact[4]?.SUCCEEDED, 2)
})
