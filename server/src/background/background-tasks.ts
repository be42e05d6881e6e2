// All periodic tasks and their intervals.

import { type ClockDeps, fireClocks } from '../dispatch/clocks.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { MatchTicker } from '../dispatch/match-ticker.ts'
import type { NodeLife } from '../dispatch/nodes/node-life.ts'
import type { RolloutTicker } from '../dispatch/rollout-ticker.ts'
import type { ScheduleTicker } from '../dispatch/schedule-ticker.ts'
import { service } from '../domain/access/principal.ts'
import type { AuditSealer } from '../domain/audit/seal-audit.ts'
import { instantToPurgeAt, laterBy } from '../domain/common/instants.ts'
import type { Store } from '../domain/common/ports/store.ts'
import { notifyTaken } from '../domain/execution/notify-moved.ts'
import type { FileContents } from '../domain/file/ports/contents.ts'
import { planMs } from '../domain/trigger/bind-plan.ts'
import { resumeReplacing } from '../domain/trigger/replace-waiting.ts'
import { idempotencyMs } from '../domain/trigger/trigger-job.ts'
import type { Tell } from '../observe/events.ts'
import type { Deliveries } from '../state/deliveries.ts'
import type { DiskSpace } from '../state/disk-space.ts'
import type { FailingTasks } from '../state/failing-tasks.ts'
import type { Freezes } from '../state/freezes.ts'
import type { KeptClock } from '../state/kept-clock.ts'
import type { KeyUse } from '../state/key-use.ts'
import type { OpenWindows } from '../state/open-windows.ts'
import type { Presence } from '../state/presence.ts'
import type { Refusals } from '../state/refusals.ts'
import type { SessionUse } from '../state/session-use.ts'
import { Background } from './background.ts'

const keyUseEveryMs = 5_000
const sessionUseEveryMs = 60_000
/** A clock fires within two seconds of its time. */
const clocksEveryMs = 500
/** A rule stops a rollout within two seconds of the end that decides it. */
const rolloutsEveryMs = 500
/** An occurrence runs within a second of its time. */
const schedulesEveryMs = 500
/** What starts to match within it becomes one run. */
const matchingEveryMs = 1000
const freezesEveryMs = 1000
/** Devices are notified within two seconds of the opening of their window. */
const windowsEveryMs = 250
/** Upper bound of the delay after a lost wake-up. */
const sweepEveryMs = 3000
const deliveriesEveryMs = 250
const presenceEveryMs = 1000
const heartbeatEveryMs = 1000
/** Upper bound of the delay after a lost event hint. */
const eventsEveryMs = 5000
/** Less than half of the time after which a silent HTTP device is offline. */
const seenEveryMs = 25_000
/** Upper bound of the delay after a crash. */
const replacingEveryMs = 5000
const sealEveryMs = 1000
const diskEveryMs = 1000
/** How long a correction of the wall clock stays unrecorded. */
const keptClockEveryMs = 500
const leftOversAfterMs = 1000
const purgeEveryMs = 10 * 60_000

type BackgroundDeps = ClockDeps & {
  rollouts: RolloutTicker
  schedules: ScheduleTicker
  matching: MatchTicker
  freezes: Freezes
  windows: OpenWindows
  store: Store
  contents: FileContents
  now: () => number
  /** The clock of this node; `now` is that of all nodes. */
  ownNow: () => number
  tell: Tell
  keyUse: KeyUse
  sessionUse: SessionUse
  presence: Presence
  deliveries: Deliveries
  failing: FailingTasks
  /** Undefined: the free space is not watched. */
  disk?: DiskSpace | undefined
  /** The disk of the folder for files; it may be the same. */
  filesDisk?: DiskSpace | undefined
  keepEventsMs: number
  keepAuditMs: number
  /** Undefined: the audit is not sealed. */
  sealer?: AuditSealer | undefined
  refusals: Refusals
  /** Undefined: forever. */
  keepExecutionsMs: number | undefined
}

/** Accumulated changes are written once more on stop. */
export function startBackground(deps: BackgroundDeps, dispatcher: Dispatcher): Background {
  const { keyUse, sessionUse, presence, deliveries } = deps
  const background = new Background(deps.tell)
  background.every(clocksEveryMs, 'fire clocks', () => fireTimers(deps))
  background.every(rolloutsEveryMs, 'roll out runs', () => deps.rollouts.tick())
  background.every(schedulesEveryMs, 'fire schedules', () => deps.schedules.tick())
  background.every(matchingEveryMs, 'look for devices that match', () => deps.matching.tick())
  background.every(replacingEveryMs, 'replace waiting executions', () => resumeReplacing(deps))
  background.every(freezesEveryMs, 'look for frozen fleets', () => keepFreezes(deps))
  background.every(windowsEveryMs, 'open and close windows', () => deps.windows.tick())
  background.every(sweepEveryMs, 'notify devices that were missed', () => dispatcher.sweep())
  background.every(deliveriesEveryMs, 'record deliveries', () => deliveries.record(), 'at the end')
  background.every(presenceEveryMs, 'record presence', () => recordPresence(presence), 'at the end')
  background.every(keyUseEveryMs, 'record key use', () => keyUse.record(), 'at the end')
  background.every(sessionUseEveryMs, 'record session use', () => sessionUse.record(), 'at the end')
  const { disk, filesDisk } = deps
  if (disk) background.every(diskEveryMs, 'read the free disk space', () => disk.check())
  if (filesDisk && filesDisk !== disk)
    background.every(diskEveryMs, 'read the free disk space for files', () => filesDisk.check())
  background.once(leftOversAfterMs, 'end executions of deleted devices', () => endLeftOvers(deps))
  background.every(purgeEveryMs, 'purge idempotency keys', () => purgeIdempotencyKeys(deps))
  background.every(purgeEveryMs, 'purge plans', () => purgePlans(deps))
  background.every(sealEveryMs, 'record refusals', () => deps.refusals.record(), 'at the end')
  const { sealer } = deps
  if (sealer) background.every(sealEveryMs, 'seal the audit', () => sealer.tick(), 'after the others')
  background.every(purgeEveryMs, 'purge the audit', () => purgeAudit(deps))
  background.every(purgeEveryMs, 'purge events', () => purgeEvents(deps))
  background.every(purgeEveryMs, 'purge deliveries', () => purgeDeliveries(deps))
  background.every(purgeEveryMs, 'purge sessions', () => purgeSessions(deps))
  background.every(purgeEveryMs, 'purge former secrets', () => purgeFormerSecrets(deps))
  background.every(purgeEveryMs, 'remove unused content of files', () => removeUnusedContents(deps))
  // A crash just before this start may have left some behind.
  background.soon('remove unused content of files', () => removeUnusedContents(deps))
  background.every(purgeEveryMs, 'purge runs', () => purgeRuns(deps))
  background.every(purgeEveryMs, 'erase leftovers', () => eraseLeftovers(deps))
  // A crash just before this start may have left some behind.
  background.soon('erase leftovers', () => eraseLeftovers(deps))
  return background
}

/** With several nodes, heartbeats keep the clock they share. */
export function keepClock(background: Background, kept: KeptClock): void {
  background.every(keptClockEveryMs, 'record the clock', () => kept.recordIfDue(), 'at the end')
}

/** Additional tasks with several nodes. */
export function runAmongNodes(background: Background, life: NodeLife): void {
  background.every(heartbeatEveryMs, 'send heartbeat', () => life.beat())
  background.every(heartbeatEveryMs, 'check that the database answers', async () => life.checkDatabase())
  background.every(heartbeatEveryMs, 'remove dead nodes', () => life.removeDeadNodes())
  background.every(heartbeatEveryMs, 'assign webhooks to nodes', () => life.shareWebhooks())
  background.every(eventsEveryMs, 'poll for events', async () => life.pollEvents())
  background.every(sweepEveryMs, 'close stale connections', () => life.closeStaleSessions())
  background.every(seenEveryMs, 'record when devices were last seen', () => life.recordSeen())
}

const timers = { kind: 'timers', taskNo: 0 } as const

async function fireTimers(deps: BackgroundDeps): Promise<void> {
  try {
    await fireClocks(deps)
    deps.failing.succeeded(timers)
  } catch (error) {
    deps.failing.failed(timers, error)
    throw error
  }
}

/** Ends freezes whose time is over. */
async function keepFreezes({ store, freezes, moment }: BackgroundDeps): Promise<void> {
  await freezes.refresh()
  const { at, clock } = moment()
  const ended = freezes.endedBy(at)
  for (const ownerNo of ended) {
    await store.unfreezeFleet({ ownerNo, principal: service, at, clock, expiredBy: at })
  }
  if (ended.length > 0) await freezes.changed()
}

function recordPresence(presence: Presence): Promise<void> {
  presence.noticeSilence()
  return presence.settle()
}

/** Ends executions of deleted devices that an earlier process has left behind. */
async function endLeftOvers(deps: BackgroundDeps): Promise<void> {
  for (let isMore = true; isMore && !deps.stopping.aborted; ) {
    const removed = await deps.store.removeGone({ moment: deps.moment(), actor: 'clock' })
    notifyTaken(deps, removed)
    isMore = removed.length > 0
  }
}

/** In small batches: the writer serves triggers in between. */
async function purgeIdempotencyKeys({ store, moment, stopping }: BackgroundDeps): Promise<void> {
  const olderThan = laterBy(-idempotencyMs, moment().clock)
  while (!stopping.aborted && (await store.purgeIdempotencyKeys({ olderThan })));
}

async function purgePlans({ store, moment, stopping }: BackgroundDeps): Promise<void> {
  const olderThan = laterBy(-planMs, moment().clock)
  while (!stopping.aborted && (await store.purgePlans({ olderThan })));
}

async function purgeEvents(deps: BackgroundDeps): Promise<void> {
  const { store, stopping, keepEventsMs } = deps
  const now = instantToPurgeAt(deps.now(), deps.ownNow())
  const age = { olderThan: now - keepEventsMs, now }
  while (!stopping.aborted && (await store.purgeEvents(age)));
}

async function purgeAudit(deps: BackgroundDeps): Promise<void> {
  const { store, stopping, keepAuditMs, sealer } = deps
  const olderThan = instantToPurgeAt(deps.now(), deps.ownNow()) - keepAuditMs
  const age = { olderThan, isSealed: sealer !== undefined }
  while (!stopping.aborted && (await store.purgeAudit(age)));
}

async function purgeDeliveries({ store, stopping }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.purgeDeliveries()));
}

async function purgeSessions({ store, now, stopping }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.purgeSessions({ expiredBy: now() })));
}

async function purgeFormerSecrets({ store, stopping }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.purgeFormerValues()));
}

async function removeUnusedContents({ store, contents }: BackgroundDeps): Promise<void> {
  await contents.removeUnused((sha256s) => store.listKeptContents({ sha256s }))
}

/** Also needed if runs are retained forever. */
async function eraseLeftovers({ store, stopping }: BackgroundDeps): Promise<void> {
  while (!stopping.aborted && (await store.eraseLeftovers()));
}

async function purgeRuns(deps: BackgroundDeps): Promise<void> {
  const { store, moment, stopping, keepExecutionsMs } = deps
  if (keepExecutionsMs === undefined) return
  const now = instantToPurgeAt(deps.now(), deps.ownNow())
  const age = {
    endedBefore: now - keepExecutionsMs,
    now,
    keysOlderThan: laterBy(-keepExecutionsMs, moment().clock),
  }
  while (!stopping.aborted && (await store.purgeRuns(age)));
}
