import type { StoredRollout } from '../rollout.ts'

export type GateCount = {
  /** Released devices of the current wave that have not finished and are not connected. */
  offline: number
  /** Succeeded devices of the current wave whose reported attributes match `next.where`. */
  confirmed: number
}

/** Device counts for the gate of the current wave; those of a large wave may be some seconds old. */
export type GateCounts = { recent(rollout: StoredRollout): Promise<GateCount> }
