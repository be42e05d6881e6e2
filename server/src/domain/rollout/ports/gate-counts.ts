import type { StoredRollout } from '../rollout.ts'

export type GateCount = {
  /** Released devices of the current wave that have not finished and are not connected. */
  offline: number
  /** Succeeded devices of it whose reported attributes match `next.where`. */
  confirmed: number
}

/** Of the devices that the gate of the current wave is about; those of a large wave may be some seconds old. */
export type GateCounts = { recent(rollout: StoredRollout): Promise<GateCount> }
