// The parts between the store and the gateways, connected to each other. The server, the tests and the benchmarks build
// them here and replace what they need to.

import { Dispatcher } from './dispatch/dispatcher.ts'
import type { Moment } from './domain/execution.ts'
import type { SteadyInstant, WallInstant } from './domain/instants.ts'
import type { DeviceKey } from './domain/ports/devices.ts'
import type { Store } from './domain/ports/store.ts'
import { groupWrites } from './group-writes.ts'
import { RateLimits, type Rates } from './limits/rate-limits.ts'
import type { Tell } from './observe/events.ts'
import type { Metrics } from './observe/metrics.ts'
import { ChangeSignal } from './state/change-signal.ts'
import { Deliveries } from './state/deliveries.ts'
import { Documents } from './state/documents.ts'
import { FleetHistory } from './state/fleet-history.ts'
import { HealthCheck } from './state/health-check.ts'
import { KeyUse } from './state/key-use.ts'
import { Presence } from './state/presence.ts'

export type PartsOptions = {
  store: Store
  tell: Tell
  metrics: Metrics
  /** Wall clock. */
  now: () => WallInstant
  /** Monotonic milliseconds. */
  elapsed: () => number
  moment: () => Moment
  stopping: AbortSignal
  maxOutputBytes: number
  rates: Rates
  /** A commit is a round trip to a database server. */
  isRemote: boolean
  /** Where webhooks may be sent. */
  isAllowedAddress: (address: string) => boolean
  /** A device has connected, at this instant of the steady clock. */
  onOpened?: (device: DeviceKey, since: SteadyInstant) => void
}

export type Parts = ReturnType<typeof buildParts>

export function buildParts({ isRemote, onOpened, elapsed, rates, ...given }: PartsOptions) {
  const { store, tell, metrics, now, moment } = given
  const shared = {
    ...given,
    limits: new RateLimits(rates, elapsed, (limit) => tell({ kind: 'rate-limited', limit })),
    runningKeys: new Set<string>(),
    runCancels: new Map<string, Promise<void>>(),
    onCancelFailed: (error: unknown) => tell({ kind: 'background-failed', task: 'cancel a run', error }),
    keyUse: new KeyUse(store),
    changes: new ChangeSignal(),
    outputs: new ChangeSignal(),
    queues: new ChangeSignal<string>(),
    newEvents: new ChangeSignal<'all'>(),
    credentialChanges: { count: 0 },
    historyChanges: { count: 0 },
    health: new HealthCheck(() => store.checkHealth()),
    fleetHistory: new FleetHistory({ store, now }),
    documents: new Documents(store),
    deliveries: new Deliveries(store, now),
    presence: new Presence({ store, now, elapsed }),
    ...groupWrites(store, tell, metrics, isRemote),
  }
  const dispatcher = new Dispatcher({
    ...shared,
    clock: () => moment().clock,
    onFailure: (error) => tell({ kind: 'dispatch-failed', error }),
    ...(onOpened && { onOpened }),
  })
  store.onEvents(() => shared.newEvents.tell(['all']))
  metrics.gauge(
    'jobcast_devices_connected',
    'Devices connected by MQTT or WebSocket',
    () => shared.presence.connected,
  )
  return { ...shared, dispatcher, link: dispatcher, sessions: dispatcher }
}
