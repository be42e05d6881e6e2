import type { StoredRollout } from '../rollout.ts'
import type { StateCounts } from './rollouts.ts'

/** Counts of each wave by state. `run`: counts of the whole run, as read with the rollout. */
export type WaveCounts = {
  now(rollout: StoredRollout, run: StateCounts): Promise<StateCounts[]>
  /** For display: counts of a large run may be some seconds old. */
  recent(rollout: StoredRollout, run: StateCounts): Promise<StateCounts[]>
}
