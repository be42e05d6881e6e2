// Everything that runs by itself, and how often.

import { Background } from './background.ts'
import { type ClockDeps, fireClocks } from './dispatch/clocks.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import type { NodeLife } from './dispatch/nodes/node-life.ts'
import type { Store } from './domain/store.ts'
import { idempotencyMs } from './domain/trigger-job.ts'
import type { Tell } from './observe/events.ts'
import type { Deliveries } from './state/deliveries.ts'
import type { KeyUse } from './state/key-use.ts'
import type { Presence } from './state/presence.ts'

const keyUseEveryMs = 30_000
/** A clock fires within two seconds of its time. */
const clocksEveryMs = 500
/** What a lost wake-up costs at most. */
const sweepEveryMs = 3000
const deliveriesEveryMs = 250
const presenceEveryMs = 1000
const beatEveryMs = 1000
/** What an event that nobody tells of costs at most. */
const eventsEveryMs = 5000
/** Less than half of the silence after which a device that asks by HTTP is offline. */
const seenEveryMs = 25_000
const forgetEveryMs = 10 * 60_000

export type BackgroundDeps = ClockDeps & {
  store: Store
  now: () => number
  tell: Tell
  keyUse: KeyUse
  presence: Presence
  deliveries: Deliveries
  keepEventsMs: number
  /** Undefined: for ever. */
  keepExecutionsMs: number | undefined
}

/** What has been gathered is written once more when it stops. */
export function startBackground(deps: BackgroundDeps, dispatcher: Dispatcher): Background {
  const { store, keyUse, presence, deliveries } = deps
  const background = new Background(deps.tell)
  background.every(clocksEveryMs, 'let clocks run out', () => fireClocks(deps))
  background.every(sweepEveryMs, 'look for devices that were not told', () => dispatcher.sweep())
  background.every(deliveriesEveryMs, 'record what was handed over', () => deliveries.record(), 'at the end')
  background.every(presenceEveryMs, 'record who is online', () => recordPresence(presence), 'at the end')
  background.every(keyUseEveryMs, 'record when keys were used', () => keyUse.record(), 'at the end')
  background.every(forgetEveryMs, 'forget old idempotency keys', () =>
    forgetOldKeys(store, deps.now, deps.stopping),
  )
  background.every(forgetEveryMs, 'forget old events', () => forgetOldEvents(deps))
  background.every(forgetEveryMs, 'forget old deliveries', () => forgetOldDeliveries(deps))
  background.every(forgetEveryMs, 'forget old sessions', () => forgetOldSessions(deps))
  background.every(forgetEveryMs, 'forget old runs', () => forgetOldRuns(deps))
  return background
}

/** Besides, where there are several nodes. */
export function runAmongNodes(background: Background, life: NodeLife): void {
  background.every(beatEveryMs, 'say that this node lives', () => life.beat())
  background.every(beatEveryMs, 'take out nodes that are gone', () => life.forgetDeadNodes())
  background.every(beatEveryMs, 'share the webhooks out', () => life.shareWebhooks())
  background.every(eventsEveryMs, 'look for events', async () => life.lookForEvents())
  background.every(sweepEveryMs, 'look for connections that are void', () => life.closeStaleSessions())
  background.every(seenEveryMs, 'record when devices were heard', () => life.recordSeen())
}

function recordPresence(presence: Presence): Promise<void> {
  presence.noticeSilence()
  return presence.settle()
}

/** In small bites: between two of them the writer gets to the triggers. */
async function forgetOldKeys(store: Store, now: () => number, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await store.forgetIdempotencyKeys(now() - idempotencyMs)));
}

async function forgetOldEvents({ store, now, stopping, keepEventsMs }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.forgetEvents(now() - keepEventsMs)));
}

async function forgetOldDeliveries({ store, stopping }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.forgetDeliveries()));
}

async function forgetOldSessions({ store, now, stopping }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.forgetSessions(now())));
}

async function forgetOldRuns({ store, now, stopping, keepExecutionsMs }: BackgroundDeps): Promise<void> {
  if (keepExecutionsMs === undefined) return
  while (!stopping.aborted && (await store.forgetRuns(now() - keepExecutionsMs)));
}
