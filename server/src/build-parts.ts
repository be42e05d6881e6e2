// The parts between the store and the gateways, connected to each other. The server, the tests and the benchmarks build
// them here and replace what they need to.

import { randomUUID } from 'node:crypto'
import { Dispatcher } from './dispatch/dispatcher.ts'
import { MatchTicker } from './dispatch/match-ticker.ts'
import { RolloutTicker } from './dispatch/rollout-ticker.ts'
import { ScheduleTicker } from './dispatch/schedule-ticker.ts'
import { WindowWaker } from './dispatch/window-waker.ts'
import type { People } from './domain/access/exchange-token.ts'
import { reasonOf, SignInRefused } from './domain/access/issuer-errors.ts'
import type { VerifyTrusted } from './domain/access/ports/issuer.ts'
import type { Quotas } from './domain/access/quotas.ts'
import { buildRecheck, endAfterTheHour } from './domain/access/recheck-person.ts'
import type { TrustRule } from './domain/access/trust.ts'
import type { AuditSigner } from './domain/audit/ports/signer.ts'
import type { SteadyInstant, WallInstant } from './domain/common/instants.ts'
import type { FailingKind } from './domain/common/ports/failing-tasks.ts'
import type { Store } from './domain/common/ports/store.ts'
import type { DeviceKey } from './domain/device/device-key.ts'
import { endUnresolved } from './domain/execution/end-unresolved.ts'
import type { Moment } from './domain/execution/execution.ts'
import { buildFileLinks } from './domain/file/file-links.ts'
import { type FileContents, noContents } from './domain/file/ports/contents.ts'
import type { MatchDevices } from './domain/rollout/plan-rollout.ts'
import type { RunPart } from './domain/rollout/ports/rollouts.ts'
import { countConfirmed, matchDevices } from './domain/rollout/rollout-selectors.ts'
import { countAtGate } from './domain/rollout/view-gate.ts'
import type { OccurrenceInFlight } from './domain/schedule/occurrences-in-flight.ts'
import { groupWrites } from './group-writes.ts'
import { BodyBudget } from './limits/body-budget.ts'
import { RateLimits, type Rates } from './limits/rate-limits.ts'
import type { Tell } from './observe/events.ts'
import type { Metrics } from './observe/metrics.ts'
import { addServiceLevels } from './observe/service-levels.ts'
import { BridgeViews } from './state/bridge-views.ts'
import { CachedCounts } from './state/cached-counts.ts'
import { ChangeSignal } from './state/change-signal.ts'
import { DailyOutput } from './state/daily-output.ts'
import { Deliveries } from './state/deliveries.ts'
import type { DiskSpace } from './state/disk-space.ts'
import { Documents } from './state/documents.ts'
import { ExecutionNotes } from './state/execution-notes.ts'
import { FailingTasks } from './state/failing-tasks.ts'
import { FleetGroupsReader } from './state/fleet-groups.ts'
import { FleetHistory } from './state/fleet-history.ts'
import { Freezes } from './state/freezes.ts'
import { GateCounts } from './state/gate-counts.ts'
import { HealthCheck } from './state/health-check.ts'
import { KeyUse } from './state/key-use.ts'
import { OpenWindows } from './state/open-windows.ts'
import { Presence } from './state/presence.ts'
import { QuotaCounts } from './state/quota-counts.ts'
import { Refusals } from './state/refusals.ts'
import { RightSecrets } from './state/right-secrets.ts'
import { type ExportSpan, RunTraces } from './state/run-traces.ts'
import { SecretBox } from './state/secret-box.ts'
import { SecretMasks } from './state/secret-masks.ts'
import { SessionUse } from './state/session-use.ts'
import { StreamCounts } from './state/stream-counts.ts'
import { TransferSlots } from './state/transfer-slots.ts'
import { OwnerTurns } from './state/turns.ts'
import { WaveCounts } from './state/wave-counts.ts'

/** Limited, because each upload writes to the disk. */
const maxUploads = 32

type PartsOptions = {
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
  /** Sessions of browsers end after this time without a request. */
  sessionIdleMs: number
  quotas: Quotas
  /** Undefined: the database is on another machine. */
  disk?: DiskSpace | undefined
  /** A commit takes a round trip to a database server. */
  isRemote: boolean
  /** Encrypts secret parameters; default: there is no key. */
  secretBox?: SecretBox
  /** Signs the seals of the audit; undefined: the audit is not sealed. */
  signer?: AuditSigner | undefined
  /** The issuer for people; default: only keys are accepted. */
  people?: People | undefined
  publicUrl?: string | undefined
  /** Rules for token exchange. */
  trust?: readonly TrustRule[]
  verifyTrusted?: VerifyTrusted
  /** Storage for files; default: none. */
  contents?: FileContents
  maxFileBytes?: number
  maxDownloads?: number
  /** The base of URLs of files. */
  fileBase?: () => string
  /** Addresses that webhooks may be sent to. */
  isAllowedAddress: (address: string) => boolean
  /** Exports spans of traced runs. */
  exportSpan?: ExportSpan | undefined
  /** Devices of hawkBit are offline after this time without a request; undefined: they are not served. */
  ddiSilenceMs?: number | undefined
  /** The same for devices on bridges: the longest time of all bridges. */
  bridgeSilenceMs?: number | undefined
  /** The number of this node; 0 for a single node. */
  nodeNo?: number
  /** Called when a device has connected; `since` is on the steady clock. */
  onOpened?: (device: DeviceKey, since: SteadyInstant) => void
}

export type Parts = ReturnType<typeof buildParts>

export function buildParts(options: PartsOptions) {
  const {
    isRemote,
    exportSpan,
    ddiSilenceMs,
    bridgeSilenceMs,
    nodeNo = 0,
    onOpened,
    elapsed,
    rates,
    disk,
    sessionIdleMs,
    people,
    publicUrl,
    trust = [],
    verifyTrusted = async () => {
      throw new SignInRefused('no issuer is trusted')
    },
    secretBox = new SecretBox([]),
    contents = noContents,
    maxFileBytes = 2 * 1024 * 1024 * 1024,
    maxDownloads = 64,
    fileBase: base = () => '',
    ...given
  } = options
  const { store, tell, metrics, now, moment, quotas } = given
  const traces = new RunTraces(store, now, exportSpan)
  const notes = new ExecutionNotes(store, tell, traces)
  const onIssuerFailed = (error: unknown) => tell({ kind: 'issuer-failed', reason: reasonOf(error) })
  const { direct } = contents
  const documents = new Documents(store, secretBox, buildFileLinks({ secretBox, now, base, direct }))
  const confirmedOf = (part: RunPart & { where: string }) => countConfirmed({ store }, part)
  const cachedCounts = new CachedCounts(elapsed)
  const shared = {
    ...given,
    limits: new RateLimits(rates, elapsed, (limit) => tell({ kind: 'rate-limited', limit })),
    bodies: new BodyBudget(quotas, (quota) => tell({ kind: 'body-refused', quota })),
    quotaCounts: new QuotaCounts({ store, quotas, now, elapsed }),
    streams: new StreamCounts(quotas),
    runningKeys: new Set<string>(),
    runCancels: new Map<string, Promise<void>>(),
    cancelParts: isRemote ? 2 : 1,
    onCancelFailed: (error: unknown) => tell({ kind: 'background-failed', task: 'cancel a run', error }),
    onLaunchFailed: (error: unknown) =>
      tell({ kind: 'background-failed', task: 'notify devices of a run', error }),
    secrets: new RightSecrets(),
    waveCounts: new WaveCounts(store, elapsed),
    gateCounts: new GateCounts(
      (rollout) => countAtGate({ store, countConfirmed: confirmedOf }, rollout),
      elapsed,
    ),
    keyUse: new KeyUse(store),
    refusals: new Refusals(store, now),
    sessionUse: new SessionUse(store, sessionIdleMs),
    ...{ people, publicUrl, trust, verifyTrusted, onIssuerFailed },
    onExchangeRefused: (reason: string) => tell({ kind: 'exchange-refused', reason }),
    recheckPerson: people
      ? buildRecheck({ store, now, tell, ...people, onFailure: onIssuerFailed })
      : endAfterTheHour,
    changes: new ChangeSignal(),
    outputs: new ChangeSignal(),
    queues: new ChangeSignal<string>(),
    newEvents: new ChangeSignal<'all'>(),
    credentialChanges: { count: 0 },
    firedBy: randomUUID(),
    occurrencesInFlight: new Set<OccurrenceInFlight>(),
    historyChanges: { count: 0 },
    health: new HealthCheck(() => store.checkHealth()),
    fleetHistory: new FleetHistory({ store, now }),
    cachedCounts,
    fleetGroups: new FleetGroupsReader({ store, now, counts: cachedCounts }),
    secretBox,
    contents,
    filesHealth: healthOf(contents),
    maxFileBytes,
    uploads: new TransferSlots(maxUploads, 'uploads of files', elapsed),
    downloads: new TransferSlots(maxDownloads, 'downloads of files (max-downloads)', elapsed),
    ownerTurns: new OwnerTurns(),
    documents,
    masks: new SecretMasks(store, documents, secretBox),
    freezes: new Freezes(store),
    windows: new OpenWindows({ store, now, moment }),
    matchDevices: (...devices: Parameters<MatchDevices>) => matchDevices({ store }, ...devices),
    countConfirmed: confirmedOf,
    dailyOutput: new DailyOutput(quotas['owner-output-bytes'], now),
    deliveries: new Deliveries(store, now),
    failing: new FailingTasks({ store, now }),
    presence: new Presence({ store, now, elapsed, ddiSilenceMs, bridgeSilenceMs }),
    bridgeViews: new BridgeViews({ now, elapsed, nodeNo: options.nodeNo }),
    traces,
    onTaken: notes.taken.bind(notes),
    ...groupWrites(store, tell, metrics, isRemote, disk, notes, moment),
  }
  const dispatcher: Dispatcher = new Dispatcher({
    ...shared,
    onUnresolved: (execution) => {
      endUnresolved({ ...shared, link: dispatcher }, execution).catch((error: unknown) =>
        tell({ kind: 'background-failed', task: 'end an execution without a document', error }),
      )
    },
    clock: () => moment().clock,
    nodeNo,
    isFrozen: (ownerNo) => shared.freezes.has(ownerNo),
    hasDeviceWindows: (ownerNo) => shared.windows.applyToDevices(ownerNo),
    onFailure: (error) => tell({ kind: 'dispatch-failed', error }),
    ...(onOpened && { onOpened }),
  })
  shared.freezes.onChange = (ownerNo) => dispatcher.wakeOwner(ownerNo)
  const waker = new WindowWaker({
    ...{ store, dispatcher, elapsed, stopping: options.stopping },
    onFailure: (error) => tell({ kind: 'dispatch-failed', error }),
  })
  shared.windows.onOpened = (opened) => waker.wake(opened)
  const { failing } = shared
  const failed = (kind: FailingKind, taskNo: number, task: string, error: unknown) => {
    if (failing.failed({ kind, taskNo }, error)) tell({ kind: 'background-failed', task, error })
  }
  const rollouts = new RolloutTicker(
    {
      ...shared,
      onFailure: (error, runId) => failed('rollout', runId, `roll out run ${runId}`, error),
      onDone: (runId) => failing.succeeded({ kind: 'rollout', taskNo: runId }),
    },
    dispatcher,
  )
  const schedules = new ScheduleTicker(
    {
      ...{ ...shared, rollouts },
      onFailure: (error, scheduleNo) => failed('schedule', scheduleNo, `fire schedule ${scheduleNo}`, error),
      onDone: (scheduleNo) => failing.succeeded({ kind: 'schedule', taskNo: scheduleNo }),
    },
    dispatcher,
  )
  const matching = new MatchTicker(
    {
      ...{ ...shared, rollouts },
      onFailure: (error, scheduleNo = 0) =>
        failed('schedule', scheduleNo, `look for devices that match (schedule ${scheduleNo})`, error),
      onDone: (scheduleNo) => failing.succeeded({ kind: 'schedule', taskNo: scheduleNo }),
    },
    dispatcher,
  )
  store.onEvents(() => shared.newEvents.notify(['all']))
  metrics.gauge(
    'jobcast_devices_connected',
    'Devices connected by MQTT or WebSocket',
    () => shared.presence.connected,
  )
  metrics.gauges(
    'jobcast_devices_online',
    'Devices that are online at this node, by transport',
    ['transport'],
    () => shared.presence.byTransport(),
  )
  metrics.gauge('jobcast_file_downloads', 'Downloads of files in progress', () => shared.downloads.taken)
  metrics.gauges(
    'jobcast_failing_tasks',
    'Rollouts, schedules and timers that have failed at least twice in a row on this node',
    ['kind'],
    () => failing.counts().map(({ kind, count }) => ({ labels: { kind }, value: count })),
  )
  metrics.gauge(
    'jobcast_unfinished_body_bytes',
    'Bytes of request bodies that are being received',
    () => shared.bodies.heldBytes,
  )
  addServiceLevels(metrics, store, now)
  return { ...shared, rollouts, schedules, matching, dispatcher, link: dispatcher, sessions: dispatcher }
}

/** Undefined: the content of files is on a disk. */
function healthOf(contents: FileContents): HealthCheck | undefined {
  const probe = contents.checkHealth?.bind(contents)
  return probe && new HealthCheck(probe, 'the bucket')
}
