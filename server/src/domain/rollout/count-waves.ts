// Counts the executions of each wave by state. The run has its own counts, so its largest open wave is the difference and
// need not be counted; waves that have ended or are held back do not change.

import { execStates } from '@jobcast/contract/words'
import type { Store } from '../common/ports/store.ts'
import { isTerminal } from '../execution/execution.ts'
import type { StateCounts } from './ports/rollouts.ts'
import type { StoredRollout } from './rollout.ts'
import { isFinal, waveParts } from './rollout.ts'

const unfinished = execStates.filter((state) => !isTerminal(state))

/** `ended`: cached counts of finished waves, by position; waves found to be finished are added. */
export async function countWaves(
  store: Pick<Store, 'countRunParts'>,
  rollout: StoredRollout,
  run: StateCounts,
  ended: Map<number, StateCounts>,
  again = 3,
): Promise<StateCounts[]> {
  const { ownerNo, runId, plan } = rollout
  const parts = waveParts(plan.sizes)
  // A copy, because concurrent counts add to `ended`.
  const known = new Map(ended)
  const open = [...parts.keys()].filter((wave) => !known.has(wave) && !isUntouched(rollout, run, wave))
  const largest = open.toSorted((one, other) => sizeOf(rollout, other) - sizeOf(rollout, one))[0]
  const counted = open.filter((wave) => wave !== largest)
  const found =
    counted.length === 0
      ? { run, parts: [] }
      : await store.countRunParts({
          ...{ ownerNo, runId },
          parts: counted.map((wave) => parts[wave] ?? { from: 0, to: 0 }),
        })
  // Executions that are held back were canceled meanwhile.
  if (again > 0 && found.run.CANCELED !== run.CANCELED)
    return countWaves(store, rollout, found.run, ended, again - 1)
  const byWave = new Map(counted.map((wave, index) => [wave, found.parts[index] ?? zeros()]))
  const counts = plan.sizes.map((size, wave) => {
    return known.get(wave) ?? byWave.get(wave) ?? { ...zeros(), PENDING: wave === largest ? 0 : size }
  })
  if (largest !== undefined) {
    const rest = without(found.run, counts)
    // A wave has ended since the counts of the run were read.
    if (again > 0 && execStates.some((state) => rest[state] < 0)) {
      const { run: later } = await store.countRunParts({ ownerNo, runId, parts: [] })
      return countWaves(store, rollout, later, ended, again - 1)
    }
    counts[largest] = rest
  }
  for (const wave of open) {
    const each = counts[wave] as StateCounts
    if (unfinished.every((state) => each[state] === 0)) ended.set(wave, each)
  }
  return counts
}

/** The whole wave is PENDING: none of it is released, and nothing of the run was canceled. */
function isUntouched({ status, plan }: StoredRollout, run: StateCounts, wave: number): boolean {
  const from = waveParts(plan.sizes)[wave]?.from ?? 0
  return from >= status.released && !isFinal(status) && run.CANCELED === 0
}

function sizeOf({ plan }: StoredRollout, wave: number): number {
  return plan.sizes[wave] ?? 0
}

function without(run: StateCounts, others: StateCounts[]): StateCounts {
  const rest = { ...run }
  for (const state of execStates) for (const other of others) rest[state] -= other[state]
  return rest
}

function zeros(): StateCounts {
  return Object.fromEntries(execStates.map((state) => [state, 0])) as StateCounts
}
