// Connects bridges with the parts they need.

import { hash } from 'node:crypto'
import type { Parts } from '../build-parts.ts'
import { BridgedDevices } from '../dispatch/bridged-devices.ts'
import { BridgedQueues } from '../dispatch/bridged-queues.ts'
import { Dispatcher } from '../dispatch/dispatcher.ts'
import type { DeviceLink } from '../domain/device/ports/device-link.ts'
import { endUnresolved } from '../domain/execution/end-unresolved.ts'
import type { BridgeSettings } from '../gateway/bridge/bridge-settings.ts'
import { type BridgeLocks, Bridges } from '../gateway/bridge/bridges.ts'
import { ChangeSignal } from '../state/change-signal.ts'
import type { Joined } from './open-storage.ts'

export type BridgesDeps = Omit<Parts, 'link'> & { link: DeviceLink; elapsed: () => number }

export function buildBridges(
  deps: BridgesDeps,
  settings: readonly BridgeSettings[],
  joined: Joined | undefined,
): Bridges {
  const { tell, metrics } = deps
  const onFailure = (error: unknown) => tell({ kind: 'dispatch-failed', error })
  const bridges = new Bridges(
    {
      ...deps,
      openNotices(ownerNo, newSession, whenRoom) {
        const queues = new BridgedQueues(deps)
        const devices = new BridgedDevices({
          ...{ ownerNo, newSession, whenRoom, onFailure, queues, store: deps.store, here: deps.dispatcher },
          notices: noticesOf(deps, queues, whenRoom, onFailure),
        })
        devices.open()
        return devices
      },
    },
    settings,
    joined && locksOf(joined),
  )
  const gauge = (name: string, help: string, read: (view: ReturnType<Bridges['views']>[number]) => number) =>
    metrics.gauges(name, help, ['bridge'], () =>
      bridges.views().map((view) => ({ labels: { bridge: view.bridgeName }, value: read(view) })),
    )
  gauge('jobcast_bridge_connected', 'Whether this node is connected to the broker', ({ state }) =>
    state === 'connected' ? 1 : 0,
  )
  gauge(
    'jobcast_bridge_lag_seconds',
    'How long the oldest request from the broker waits',
    ({ lagMs }) => lagMs / 1000,
  )
  gauge(
    'jobcast_bridge_waiting_messages',
    'Messages that have not been sent to the broker yet',
    ({ waiting }) => waiting,
  )
  gauge('jobcast_bridge_received_messages', 'Messages from the broker since it is carried', (v) => v.received)
  gauge('jobcast_bridge_sent_messages', 'Messages to the broker since it is carried', (v) => v.sent)
  gauge('jobcast_bridge_dropped_messages', 'Answers dropped: the broker is too slow', (v) => v.dropped)
  return bridges
}

/** A separate dispatcher for devices on the broker: its sessions are no connections and do not make a device online. */
function noticesOf(
  deps: BridgesDeps,
  store: BridgedQueues,
  whenRoom: () => Promise<void> | undefined,
  onFailure: (error: unknown) => void,
): Dispatcher {
  const ignore = () => undefined
  return new Dispatcher({
    ...deps,
    store,
    whenRoom,
    presence: {
      connect: ignore,
      disconnect: ignore,
      movedElsewhere: ignore,
      connectedElsewhere: ignore,
      disconnectHttp: ignore,
      announceByHttp: ignore,
    },
    // Sessions record notices themselves, once the broker has acknowledged them.
    deliveries: { notified: ignore, delivered: ignore },
    queues: new ChangeSignal<string>(),
    onUnresolved: (execution) => {
      endUnresolved(deps, execution).catch(onFailure)
    },
    clock: () => deps.moment().clock,
    nodeNo: 0,
    isFrozen: (ownerNo) => deps.freezes.has(ownerNo),
    hasDeviceWindows: (ownerNo) => deps.windows.applyToDevices(ownerNo),
    onFailure,
  })
}

function locksOf({ nodes, share, nodeNo }: Joined): BridgeLocks {
  return {
    take: (bridgeName) => nodes.takeBridge(lockNo(bridgeName)),
    giveBack: (bridgeName) => nodes.giveBackBridge(lockNo(bridgeName)),
    get holds() {
      return share.holds
    },
    onLost: (listener) => nodes.onWebhooksLost(listener),
    tell: (view) => nodes.send({ kind: 'bridge-view', nodeNo, view }),
  }
}

/** Fits a PostgreSQL integer. */
function lockNo(bridgeName: string): number {
  return Number.parseInt(hash('sha256', bridgeName).slice(0, 8), 16) >> 1
}
