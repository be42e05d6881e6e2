// A bridge to the user's own broker, and its state. Bridges are defined in the settings of the service; gateway/bridge/
// runs them.
//
// Read next: bridge-owner.ts, its owner; list-bridges.ts, the list that owners see.

import type { BridgeState } from '@jobcast/contract'
import type { WallInstant } from '../common/instants.ts'

/** The state on the node that runs the bridge; `standby` on the others. */
export type BridgeView = {
  bridgeName: string
  /** Owner of the devices: ownerName or ownerId. */
  ownerName: string
  state: 'standby' | 'owner-unknown' | 'connecting' | 'connected'
  /** Why it is not connected, or the last error since it connected. */
  lastError?: string | undefined
  /** When it connected or disconnected. */
  since: WallInstant | null
  /** Kept after recovery. */
  lastFailure: { at: WallInstant; error: string } | null
  /** How long the oldest request has been waiting for its commit. */
  lagMs: number
  devicesOnline: number
  /** Messages waiting to be sent to the broker. */
  waiting: number
  received: number
  sent: number
  dropped: number
  /** Null: the bridge publishes no events. */
  events: { topic: string; failingSince: WallInstant | null; leftOut: number } | null
}

/** `nodeNo`: the node that runs the bridge, in a cluster; `asOf`: the time of that node's last report. */
export type KnownBridge = BridgeView & { nodeNo: number | null; asOf: WallInstant | null }

export function bridgeStateOf({ state, lastError }: Pick<BridgeView, 'state' | 'lastError'>): BridgeState {
  if (state === 'standby') return 'unknown'
  if (state === 'connected') return 'connected'
  return lastError === undefined ? 'connecting' : 'down'
}
