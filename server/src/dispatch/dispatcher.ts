// Notifies connected devices of their queued executions. It compares a device's queue with what the device was last
// notified of, so a duplicate wake-up sends nothing twice, and the next sweep makes up for a lost one.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { laterBy, latest, type SteadyInstant } from '../domain/common/instants.ts'
import type { OpenSession, StaleSession } from '../domain/common/ports/nodes.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import { isNewerSession, type SessionBegin } from '../domain/device/judge-presence.ts'
import {
  type DeviceLink,
  type DeviceSession,
  type DeviceSessions,
  deviceText,
  keyOf,
  type SeenQueue,
} from '../domain/device/ports/device-link.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/execution/device-report.ts'
import type { Unresolved } from '../domain/execution/end-unresolved.ts'
import { type DeviceDocument, UnresolvedDocument } from '../domain/execution/ports/documents.ts'
import type { ReleasedPart, RunPart } from '../domain/rollout/ports/rollouts.ts'
import type { LaunchedRun } from '../domain/trigger/launched-run.ts'
import { ByDevice } from '../state/by-device.ts'
import type { ChangeSignal } from '../state/change-signal.ts'
import type { Deliveries } from '../state/deliveries.ts'
import type { Documents } from '../state/documents.ts'
import type { Presence } from '../state/presence.ts'
import { RunAnnouncer } from './announce-runs.ts'
import { NoticeState } from './notice-state.ts'

type DispatcherDeps = {
  store: Pick<Store, 'readQueues'>
  documents: Documents
  deliveries: Pick<Deliveries, 'notified' | 'delivered'>
  presence: Pick<
    Presence,
    'connect' | 'disconnect' | 'movedElsewhere' | 'connectedElsewhere' | 'disconnectHttp' | 'announceByHttp'
  >
  /** Signals, keyed by device, that a queue has changed: wakes devices that long-poll over HTTP. */
  queues: ChangeSignal<string>
  clock: () => SteadyInstant
  /** Number of this node; 0 without a cluster. */
  nodeNo: number
  /** A device has connected, at this instant. */
  onOpened?: (device: DeviceKey, since: SteadyInstant) => void
  /** Nothing is offered to the devices of this owner. */
  isFrozen: (ownerNo: number) => boolean
  /** Some devices of this owner have windows of their own; only the store can tell whether one is open. */
  hasDeviceWindows: (ownerNo: number) => boolean
  /** The execution can no longer be handed out. */
  onUnresolved: (execution: Unresolved) => void
  /** For sessions that share a connection: resolves when it takes another batch of notices; undefined: now. */
  whenRoom?: () => Promise<void> | undefined
  /** Reading queues failed; the next sweep retries. */
  onFailure: (error: unknown) => void
}

/** Devices on an external broker; the server does not know which of them are connected. */
type Bridged = {
  wake(devices: Iterable<DeviceKey>): void
  wakeOwner(ownerNo: number): void
  launched(ownerNo: number, run: LaunchedRun, isOlder: boolean): void
  released(part: RunPart, released: ReleasedPart): void
  withdraw(device: DeviceKey, jobExecutionId: number): void
  disconnect(device: DeviceKey): void
  sweep(): void
  quiet(): Promise<void>
}

// Devices notified, or read from the store, before yielding to the event loop.
const devicesPerBatch = 250
// Most devices request their queue right after subscribing; a notification on top would start some of them twice.
const greetAfterMs = 1000
const noDocument: DeviceDocument = { json: '' }
// Far longer than the clocks of two nodes may differ.
const elsewhereMs = 10_000

export class Dispatcher implements DeviceLink, DeviceSessions {
  readonly #deps: DispatcherDeps
  readonly #notices = new ByDevice<NoticeState>()
  /** Devices whose queue is to be read. A device is in it once, however often it is woken. */
  readonly #awake = new Set<NoticeState>()
  /** Devices that recently connected to another node, and since when. */
  #elsewhere = new ByDevice<{ device: DeviceKey; since: SteadyInstant }>()
  #reading: Promise<void> | undefined
  readonly #bridged = new Set<Bridged>()
  readonly #runs: RunAnnouncer

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
    this.#runs = new RunAnnouncer({
      ...{ documents: deps.documents, deliveries: deps.deliveries, onFailure: deps.onFailure },
      connected: this.#notices,
      hasDeviceWindows: deps.hasDeviceWindows,
      whenRoom: deps.whenRoom,
      isAwake: (notices) => this.#awake.has(notices),
      wake: (notices) => this.#wake(notices),
      notifyWaiting: (device) => this.#notifyWaiting(device),
    })
  }

  open(session: DeviceSession): void {
    const before = this.#notices.get(session.device)
    // Node clocks may differ by milliseconds, and a device may reconnect faster than that; its newest session must win.
    const elsewhere = this.#elsewhere.get(session.device)
    const since = latest(this.#deps.clock(), elsewhere && laterBy(1, elsewhere.since))
    this.#notices.set(session.device, new NoticeState(session, since))
    this.#deps.presence.connect(session, since)
    this.#deps.onOpened?.(session.device, since)
    if (before) {
      clearTimeout(before.greeting)
      this.#awake.delete(before)
      before.session.close('taken-over')
    }
  }

  leave(session: DeviceSession): void {
    const notices = this.#noticesOf(session)
    if (notices === undefined) return
    this.#remove(notices)
    this.#deps.presence.disconnect(session, notices.since)
  }

  greet(session: DeviceSession): void {
    const notices = this.#noticesOf(session)
    if (notices === undefined) return
    clearTimeout(notices.greeting)
    notices.greeting = setTimeout(() => {
      notices.greeting = undefined
      this.refresh(session)
    }, greetAfterMs)
    notices.greeting.unref()
  }

  answered(session: DeviceSession, seen: SeenQueue): void {
    this.#noticesOf(session)?.see(seen)
  }

  refresh(session: DeviceSession): void {
    const notices = this.#noticesOf(session)
    if (notices) this.#wake(notices)
  }

  delivered(jobExecutionIds: readonly number[]): void {
    this.#deps.deliveries.delivered(jobExecutionIds)
  }

  /** Bridged devices get the same notices as devices that are connected here. */
  addBridged(bridged: Bridged): void {
    this.#bridged.add(bridged)
  }

  removeBridged(bridged: Bridged): void {
    this.#bridged.delete(bridged)
  }

  wake(given: Iterable<DeviceKey>): void {
    const devices = this.#bridged.size === 0 ? given : [...given]
    for (const bridged of this.#bridged) bridged.wake(devices)
    for (const device of devices) {
      this.#notifyWaiting(device)
      const notices = this.#notices.get(device)
      if (notices) this.#wake(notices)
    }
  }

  /** The queues of all devices of this owner have changed. */
  wakeOwner(ownerNo: number): void {
    this.wake(
      this.#notices
        .values()
        .map(({ session }) => session.device)
        .filter((device) => device.ownerNo === ownerNo),
    )
    this.#deps.queues.notifyAllLocal()
    for (const bridged of this.#bridged) bridged.wakeOwner(ownerNo)
  }

  /** Call before reading a run that another node launched: a device woken after this may already have ended it. */
  beginLaunch(): number {
    return this.#runs.beginLaunch()
  }

  launched(ownerNo: number, run: LaunchedRun, begun?: number): void {
    if (!this.hasListeners || this.#deps.isFrozen(ownerNo)) return
    this.#runs.launched(ownerNo, run, begun ?? this.beginLaunch())
    for (const bridged of this.#bridged) bridged.launched(ownerNo, run, begun !== undefined)
  }

  released(part: RunPart, released: ReleasedPart): void {
    const { ownerNo } = part
    if (!this.hasListeners || this.#deps.isFrozen(ownerNo)) return
    this.#runs.released(ownerNo, released)
    for (const bridged of this.#bridged) bridged.released(part, released)
  }

  withdraw(device: DeviceKey, jobExecutionId: number): void {
    const session = this.#notices.get(device)?.session
    if (session?.wants.cancel) session.send({ kind: 'cancel', jobExecutionId, deadlineSeconds: 0 }, [])
    for (const bridged of this.#bridged) bridged.withdraw(device, jobExecutionId)
  }

  disconnect(device: DeviceKey): void {
    this.#notices.get(device)?.session.close('credential-void')
    for (const bridged of this.#bridged) bridged.disconnect(device)
    this.#deps.presence.disconnectHttp(device)
    // A device that long-polls over HTTP re-checks its queue and its credential.
    this.#deps.queues.notify([deviceText(device)])
  }

  /** Whether any device on this node could be notified of a run. */
  get hasListeners(): boolean {
    return this.#notices.size > 0 || this.#deps.queues.isWatched || this.#bridged.size > 0
  }

  /** The device was notified that its queue is empty, and no read of the queue is pending. */
  knowsEmpty(session: DeviceSession): boolean {
    const notices = this.#noticesOf(session)
    if (notices === undefined || notices.isBeingRead || this.#awake.has(notices)) return false
    return notices.knowsEmpty
  }

  /** Number of devices of runs that are not announced yet. */
  get pending(): number {
    return this.#runs.pending
  }

  isConnected(device: DeviceKey): boolean {
    return this.#notices.get(device) !== undefined
  }

  /** The device has connected to another node: an older session on this node is closed. */
  takenOver(device: DeviceKey, begin: SessionBegin): void {
    this.#deps.presence.connectedElsewhere(device)
    this.#elsewhere.set(device, { device, since: begin.since })
    const notices = this.#notices.get(device)
    if (notices && isNewerSession(begin, { since: notices.since, nodeNo: this.#deps.nodeNo }))
      this.#moveElsewhere(notices)
  }

  /** If the device has reconnected to this node since the read that found it stale, the new session stays open. */
  closeStale({ since, reason, ...device }: StaleSession): void {
    const notices = this.#notices.get(device)
    if (notices?.since !== since) return
    if (reason === 'taken-over') this.#moveElsewhere(notices)
    else this.disconnect(device)
  }

  /** This node cannot serve its devices, but other nodes can. */
  sendElsewhere(): void {
    for (const { session } of this.#notices.values()) session.close('use-another-server')
  }

  openSessions(): OpenSession[] {
    return this.#notices.values().map(toOpenSession)
  }

  openSession(device: DeviceKey): OpenSession | undefined {
    const notices = this.#notices.get(device)
    return notices && toOpenSession(notices)
  }

  /** Records every device connected here as online again, after the other nodes removed this node. */
  announceAll(): void {
    for (const { session, since } of this.#notices.values()) this.#deps.presence.connect(session, since)
  }

  announce(device: DeviceKey): void {
    const notices = this.#notices.get(device)
    if (notices) this.#deps.presence.connect(notices.session, notices.since)
    else this.#deps.presence.announceByHttp(device)
  }

  /** Reads the queue of every connected device whose queue has changed since the last read. */
  async sweep(): Promise<void> {
    this.#expireElsewhere()
    const all = this.#notices.values()
    for (let start = 0; start < all.length; start += devicesPerBatch) {
      for (const notices of all.slice(start, start + devicesPerBatch)) {
        if (notices.wantsAny && this.#noticesOf(notices.session) === notices) this.#awake.add(notices)
      }
      await this.#startReading()
    }
    for (const bridged of this.#bridged) bridged.sweep()
  }

  /** Resolves when no notification is outstanding. */
  async quiet(): Promise<void> {
    await this.#runs.quiet()
    await this.#reading
    for (const bridged of this.#bridged) await bridged.quiet()
  }

  #noticesOf(session: DeviceSession): NoticeState | undefined {
    const notices = this.#notices.get(session.device)
    return notices?.session === session ? notices : undefined
  }

  #expireElsewhere(): void {
    const recent = this.#deps.clock() - elsewhereMs
    for (const { device, since } of this.#elsewhere.values()) {
      if (since < recent) this.#elsewhere.delete(device)
    }
  }

  #moveElsewhere(notices: NoticeState): void {
    this.#remove(notices)
    this.#deps.presence.movedElsewhere(notices.session, notices.since)
    notices.session.close('taken-over')
  }

  #remove(notices: NoticeState): void {
    clearTimeout(notices.greeting)
    this.#notices.delete(notices.session.device)
    this.#awake.delete(notices)
  }

  /** Devices that long-poll over HTTP read their own queue when woken. */
  #notifyWaiting(device: DeviceKey): void {
    if (this.#deps.queues.isWatched) this.#deps.queues.notify([deviceText(device)])
  }

  #wake(notices: NoticeState): void {
    if (!notices.wantsAny) return
    notices.mark = undefined
    notices.wokenAt = this.#runs.launches
    this.#awake.add(notices)
    void this.#startReading()
  }

  /** One read at a time: an older result must not be sent after a newer one. */
  #startReading(): Promise<void> {
    this.#reading ??= this.#readAwake()
    return this.#reading
  }

  async #readAwake(): Promise<void> {
    // Devices woken in the same turn of the event loop are read together.
    await nextTurn()
    while (this.#awake.size > 0) {
      await this.#deps.whenRoom?.()
      const batch: NoticeState[] = []
      for (const notices of this.#awake) {
        this.#awake.delete(notices)
        if (batch.push(notices) === devicesPerBatch) break
      }
      await this.#readQueues(batch)
      await nextTurn()
    }
    this.#reading = undefined
  }

  async #readQueues(batch: NoticeState[]): Promise<void> {
    try {
      for (const notices of batch) notices.isBeingRead = true
      const wanted = batch.map(({ session, mark }) => ({ ...session.device, unlessMark: mark }))
      const queues = await this.#deps.store.readQueues(wanted)
      for (const [index, notices] of batch.entries()) {
        const queue = queues[index]
        if (queue !== undefined && queue !== 'unchanged') await this.#notify(notices, queue)
      }
    } catch (error) {
      // The next sweep reads them again.
      for (const notices of batch) {
        notices.mark = undefined
        notices.isCurrent = false
      }
      this.#deps.onFailure(error)
    } finally {
      for (const notices of batch) notices.isBeingRead = false
    }
  }

  async #notify(notices: NoticeState, queue: DeviceQueue): Promise<void> {
    const [next] = queue.executions
    const document = next ? await this.#documentOf(next, notices.session.device) : noDocument
    // Without a document the execution is ended, and that wakes the device again.
    if (document) this.#sendNotices(notices, queue, document)
  }

  async #documentOf(execution: DeviceExecution, device: DeviceKey): Promise<DeviceDocument | undefined> {
    try {
      return await this.#deps.documents.of(execution, device)
    } catch (error) {
      if (!(error instanceof UnresolvedDocument)) throw error
      const { jobExecutionId } = execution
      this.#deps.onUnresolved({ ...keyOf(device), jobExecutionId, missing: error.message })
      return undefined
    }
  }

  /** All or nothing: while the connection is congested, nothing is sent and the next sweep retries. */
  #sendNotices(notices: NoticeState, queue: DeviceQueue, document: DeviceDocument): void {
    const { session } = notices
    if (!session.isReady) {
      notices.isCurrent = false
      return
    }
    const { deliveries, clock } = this.#deps
    const ids = queue.executions.map(({ jobExecutionId }) => jobExecutionId)
    if (notices.isNewList(queue)) session.send({ kind: 'list', queue }, ids)
    if (notices.isNewNext(queue)) {
      const [execution] = queue.executions
      session.send({ kind: 'next', next: execution && { execution, document } }, ids.slice(0, 1))
    }
    for (const { jobExecutionId, timesOutAt } of notices.newCancels(queue)) {
      const deadlineSeconds = timesOutAt === null ? 0 : Math.max(0, Math.ceil((timesOutAt - clock()) / 1000))
      session.send({ kind: 'cancel', jobExecutionId, deadlineSeconds }, [])
    }
    for (const { jobExecutionId, notified } of notices.newlySeen(queue)) {
      if (!notified) deliveries.notified(jobExecutionId)
    }
    notices.remember(queue)
  }
}

function toOpenSession({ session: { device }, since }: NoticeState): OpenSession {
  return { ...device, since }
}
