import type { StoredRollout } from '../rollout.ts'
import type { StateCounts } from './rollouts.ts'

/** How many executions of each wave are in which state. `run`: of the whole run, as it was read with the rollout. */
export type WaveCounts = {
  now(rollout: StoredRollout, run: StateCounts): Promise<StateCounts[]>
  /** For who only shows them: those of a large run may be some seconds old. */
  recent(rollout: StoredRollout, run: StateCounts): Promise<StateCounts[]>
}
