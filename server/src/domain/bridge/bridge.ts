// A bridge to a broker of the user: what is known of it. The settings of the service say which there are; gateway/bridge/
// carries them.
//
// Read next: bridge-owner.ts, whose it is; list-bridges.ts, what owners see of theirs.

import type { BridgeState } from '@jobcast/contract'
import type { WallInstant } from '../common/instants.ts'

/** As the node sees it that carries it; `standby` on the others. */
export type BridgeView = {
  bridgeName: string
  /** Owner of the devices: ownerName or ownerId. */
  ownerName: string
  state: 'standby' | 'owner-unknown' | 'connecting' | 'connected'
  /** Why it is not connected, or what has failed since it is. */
  lastError?: string | undefined
  /** Since when it is connected, or is not. */
  since: WallInstant | null
  /** Also if it works again. */
  lastFailure: { at: WallInstant; error: string } | null
  /** How long the oldest request has been waiting for its commit. */
  lagMs: number
  devicesOnline: number
  /** Messages that wait for the broker. */
  waiting: number
  received: number
  sent: number
  dropped: number
  /** Null: it publishes none. */
  events: { topic: string; failingSince: WallInstant | null; leftOut: number } | null
}

/** As this node knows it. `nodeNo`: the node that carries it, where there are several; `asOf`: when that one has said so. */
export type KnownBridge = BridgeView & { nodeNo: number | null; asOf: WallInstant | null }

export function bridgeStateOf({ state, lastError }: Pick<BridgeView, 'state' | 'lastError'>): BridgeState {
  if (state === 'standby') return 'unknown'
  if (state === 'connected') return 'connected'
  return lastError === undefined ? 'connecting' : 'down'
}
