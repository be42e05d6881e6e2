// Bridges -> API objects.

import { type Bridge, toInstantOrNull } from '@jobcast/contract'
import { bridgeStateOf } from '../../domain/bridge/bridge.ts'
import type { ListedBridge } from '../../domain/bridge/list-bridges.ts'

export function toBridge(bridge: ListedBridge): Bridge {
  const { lastFailure, events, cursor } = bridge
  return {
    bridgeName: bridge.bridgeName,
    state: bridgeStateOf(bridge),
    since: toInstantOrNull(bridge.since),
    lastError: lastFailure?.error ?? null,
    lastErrorAt: toInstantOrNull(lastFailure?.at ?? null),
    lagMs: Math.round(bridge.lagMs),
    devicesOnline: bridge.devicesOnline,
    waiting: bridge.waiting,
    received: bridge.received,
    sent: bridge.sent,
    dropped: bridge.dropped,
    events: events && {
      topic: events.topic,
      cursor,
      failingSince: toInstantOrNull(events.failingSince),
      leftOut: events.leftOut,
    },
    nodeNo: bridge.nodeNo,
    asOf: toInstantOrNull(bridge.asOf),
  }
}
