// Tells connected devices what waits for them. It compares what a device can see now with what it was told last:
// so a doubled wake-up tells nothing twice, and one that got lost is made up for by the next look.

import { setImmediate as turn } from 'node:timers/promises'
import {
  type DeviceLink,
  type DeviceSession,
  type DeviceSessions,
  deviceText,
  type SeenQueue,
} from '../domain/device-link.ts'
import type { DeviceExecution, DeviceQueue } from '../domain/device-report.ts'
import { laterBy, latest, type SteadyInstant } from '../domain/instants.ts'
import type { OpenSession, StaleSession } from '../domain/nodes.ts'
import type { DeviceKey } from '../domain/ports/devices.ts'
import type { Store } from '../domain/ports/store.ts'
import type { LaunchedRun } from '../domain/ports/triggers.ts'
import { ByDevice } from '../state/by-device.ts'
import type { ChangeSignal } from '../state/change-signal.ts'
import type { Deliveries } from '../state/deliveries.ts'
import type { Documents } from '../state/documents.ts'
import type { Presence } from '../state/presence.ts'
import { Told } from './told.ts'

export type DispatcherDeps = {
  store: Pick<Store, 'readQueues'>
  documents: Documents
  deliveries: Deliveries
  presence: Presence
  /** Told, by the device, when its queue has changed: for those that wait by HTTP. */
  queues: ChangeSignal<string>
  clock: () => SteadyInstant
  /** A device has connected, at this instant. */
  onOpened?: (device: DeviceKey, since: SteadyInstant) => void
  /** A look at queues failed; it is made again. */
  onFailure: (error: unknown) => void
}

// Devices that are told, or looked at, before others get their turn on the event loop.
const devicesPerTurn = 250
// Most devices ask when they have subscribed, and some would begin twice if they were told as well.
const greetAfterMs = 1000
// Far more than the clocks of two nodes may differ.
const elsewhereMs = 10_000

export class Dispatcher implements DeviceLink, DeviceSessions {
  readonly #deps: DispatcherDeps
  readonly #told = new ByDevice<Told>()
  /** Those to look at, one after the other. A device is in it once, however often it is woken. */
  readonly #awake = new Set<Told>()
  /** Since when those that have connected to other nodes have their sessions there. */
  #elsewhere = new ByDevice<{ device: DeviceKey; since: SteadyInstant }>()
  #working: Promise<void> | undefined
  /** Runs are told one after the other, each in slices. */
  #launching: Promise<void> = Promise.resolve()
  #launches = 0

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
  }

  open(session: DeviceSession): void {
    const before = this.#told.get(session.device)
    // The clocks of nodes agree but for milliseconds; a device may be quicker than that, and its newest session counts.
    const elsewhere = this.#elsewhere.get(session.device)
    const since = latest(this.#deps.clock(), elsewhere && laterBy(1, elsewhere.since))
    this.#told.set(session.device, new Told(session, since))
    this.#deps.presence.connect(session, since)
    this.#deps.onOpened?.(session.device, since)
    if (before) {
      clearTimeout(before.greeting)
      this.#awake.delete(before)
      before.session.close('taken-over')
    }
  }

  leave(session: DeviceSession): void {
    const told = this.#toldOf(session)
    if (told === undefined) return
    this.#forget(told)
    this.#deps.presence.disconnect(session, told.since)
  }

  greet(session: DeviceSession): void {
    const told = this.#toldOf(session)
    if (told === undefined) return
    clearTimeout(told.greeting)
    told.greeting = setTimeout(() => {
      told.greeting = undefined
      this.refresh(session)
    }, greetAfterMs)
    told.greeting.unref()
  }

  answered(session: DeviceSession, seen: SeenQueue): void {
    this.#toldOf(session)?.see(seen)
  }

  refresh(session: DeviceSession): void {
    const told = this.#toldOf(session)
    if (told) this.#wake(told)
  }

  delivered(jobExecutionIds: readonly number[]): void {
    this.#deps.deliveries.delivered(jobExecutionIds)
  }

  wake(devices: Iterable<DeviceKey>): void {
    for (const device of devices) {
      this.#tellWaiting(device)
      const told = this.#told.get(device)
      if (told) this.#wake(told)
    }
  }

  /** To be called before a run is read that another node has made: whoever is woken from now on may have ended it. */
  beginLaunch(): number {
    return ++this.#launches
  }

  launched(ownerNo: number, run: LaunchedRun, launch = this.beginLaunch()): void {
    if (!this.hasListeners) return
    this.#launching = this.#launching
      .then(() => this.#tellRun(ownerNo, run, launch))
      .catch((error: unknown) => this.#deps.onFailure(error))
  }

  withdraw(device: DeviceKey, jobExecutionId: number): void {
    const session = this.#told.get(device)?.session
    if (session?.wants.cancel) session.send({ kind: 'cancel', jobExecutionId, deadlineSeconds: 0 }, [])
  }

  disconnect(device: DeviceKey): void {
    this.#told.get(device)?.session.close('credential-void')
    this.#deps.presence.leaveByHttp(device)
    // One that waits by HTTP looks again, and whether it is still let in.
    this.#deps.queues.tell([deviceText(device)])
  }

  /** Whether there is anybody to be told of a run. */
  get hasListeners(): boolean {
    return this.#told.size > 0 || this.#deps.queues.isWatched
  }

  isConnected(device: DeviceKey): boolean {
    return this.#told.get(device) !== undefined
  }

  /** The device has connected to another node: whatever is open here since before that is over. */
  takenOver(device: DeviceKey, since: SteadyInstant): void {
    this.#deps.presence.connectedElsewhere(device)
    this.#elsewhere.set(device, { device, since })
    const told = this.#told.get(device)
    if (told && told.since < since) this.#moveElsewhere(told)
  }

  /** Found by a look: if the device has connected here once more meanwhile, that is another session. */
  closeStale({ since, reason, ...device }: StaleSession): void {
    const told = this.#told.get(device)
    if (told?.since !== since) return
    if (reason === 'taken-over') this.#moveElsewhere(told)
    else this.disconnect(device)
  }

  openSessions(): OpenSession[] {
    return this.#told.values().map(toOpenSession)
  }

  openSession(device: DeviceKey): OpenSession | undefined {
    const told = this.#told.get(device)
    return told && toOpenSession(told)
  }

  /** Who is connected here is said to be online once more: it was forgotten. */
  announceAll(): void {
    for (const { session, since } of this.#told.values()) this.#deps.presence.connect(session, since)
  }

  announce(device: DeviceKey): void {
    const told = this.#told.get(device)
    if (told) this.#deps.presence.connect(told.session, told.since)
    else this.#deps.presence.announceByHttp(device)
  }

  /** Looks at every connected device whose queue has changed since it was looked at last. */
  async sweep(): Promise<void> {
    this.#forgetElsewhere()
    const all = this.#told.values()
    for (let start = 0; start < all.length; start += devicesPerTurn) {
      for (const told of all.slice(start, start + devicesPerTurn)) {
        if (told.wantsAny && this.#toldOf(told.session) === told) this.#awake.add(told)
      }
      await this.#work()
    }
  }

  /** Resolves when nobody is left to be told. */
  async quiet(): Promise<void> {
    await this.#launching
    await this.#working
  }

  #toldOf(session: DeviceSession): Told | undefined {
    const told = this.#told.get(session.device)
    return told?.session === session ? told : undefined
  }

  #forgetElsewhere(): void {
    const recent = this.#deps.clock() - elsewhereMs
    for (const { device, since } of this.#elsewhere.values()) {
      if (since < recent) this.#elsewhere.delete(device)
    }
  }

  #moveElsewhere(told: Told): void {
    this.#forget(told)
    this.#deps.presence.movedElsewhere(told.session, told.since)
    told.session.close('taken-over')
  }

  #forget(told: Told): void {
    clearTimeout(told.greeting)
    this.#told.delete(told.session.device)
    this.#awake.delete(told)
  }

  /** Those that wait by HTTP look for themselves. */
  #tellWaiting(device: DeviceKey): void {
    if (this.#deps.queues.isWatched) this.#deps.queues.tell([deviceText(device)])
  }

  #wake(told: Told): void {
    if (!told.wantsAny) return
    told.mark = undefined
    told.wokenAt = this.#launches
    this.#awake.add(told)
    void this.#work()
  }

  /** One look at a time: an older one must not be told after a newer. */
  #work(): Promise<void> {
    this.#working ??= this.#lookAtAwake()
    return this.#working
  }

  async #lookAtAwake(): Promise<void> {
    // Woken in one turn, looked at together.
    await turn()
    while (this.#awake.size > 0) {
      const part: Told[] = []
      for (const told of this.#awake) {
        this.#awake.delete(told)
        if (part.push(told) === devicesPerTurn) break
      }
      await this.#look(part)
      await turn()
    }
    this.#working = undefined
  }

  async #look(part: Told[]): Promise<void> {
    try {
      for (const told of part) told.isBeingRead = true
      const wanted = part.map(({ session, mark }) => ({ ...session.device, unlessMark: mark }))
      const queues = await this.#deps.store.readQueues(wanted)
      for (const [index, told] of part.entries()) {
        const queue = queues[index]
        if (queue !== undefined && queue !== 'unchanged') await this.#tell(told, queue)
      }
    } catch (error) {
      // The sweep makes the look again.
      for (const told of part) {
        told.mark = undefined
        told.isCurrent = false
      }
      this.#deps.onFailure(error)
    } finally {
      for (const told of part) told.isBeingRead = false
    }
  }

  async #tell(told: Told, queue: DeviceQueue): Promise<void> {
    const [next] = queue.executions
    this.#handOver(told, queue, next ? await this.#deps.documents.get(next.jobVersion) : '')
  }

  /** Everything of this is sent in one go, or nothing while the connection takes no more. */
  #handOver(told: Told, queue: DeviceQueue, document: string): void {
    const { session } = told
    if (!session.isReady) {
      told.isCurrent = false
      return
    }
    const { deliveries, clock } = this.#deps
    const ids = queue.executions.map(({ jobExecutionId }) => jobExecutionId)
    if (told.isNewList(queue)) session.send({ kind: 'list', queue }, ids)
    if (told.isNewNext(queue)) {
      const [execution] = queue.executions
      session.send({ kind: 'next', next: execution && { execution, document } }, ids.slice(0, 1))
    }
    for (const { jobExecutionId, timesOutAt } of told.newCancels(queue)) {
      const deadlineSeconds = timesOutAt === null ? 0 : Math.max(0, Math.ceil((timesOutAt - clock()) / 1000))
      session.send({ kind: 'cancel', jobExecutionId, deadlineSeconds }, [])
    }
    for (const { jobExecutionId, notified } of told.newlySeen(queue)) {
      if (!notified) deliveries.notified(jobExecutionId)
    }
    told.remember(queue)
  }

  /**
   * A device that was told that nothing waits for it need not be looked at: what it sees now is this execution.
   * That is what a fan-out to a fleet consists of, and a read for each device would be most of its time. Nor need one
   * be looked at that knows its next execution and wants to know of no other: triggers of busy devices cost twice as
   * much with a look.
   */
  async #tellRun(ownerNo: number, run: LaunchedRun, launch: number): Promise<void> {
    const document = await this.#deps.documents.get(run.jobVersion)
    for (const [index, { deviceId }] of run.devices.entries()) {
      const device = { ownerNo, deviceId }
      this.#tellWaiting(device)
      const told = this.#told.get(device)
      if (told) this.#tellLaunched(told, launch, launchedExecution(run, index), document)
      if (index % devicesPerTurn === devicesPerTurn - 1) await turn()
    }
  }

  #tellLaunched(told: Told, launch: number, execution: DeviceExecution, document: string): void {
    // Whoever was woken since may have ended it already: a run takes its time to be told.
    const isLate = told.wokenAt >= launch || told.isBeingRead || this.#awake.has(told)
    if (told.knowsNext && !isLate) return
    if (!told.knowsEmpty || isLate) this.#wake(told)
    else this.#handOver(told, { mark: undefined, total: 1, executions: [execution] }, document)
  }
}

function toOpenSession({ session: { device }, since }: Told): OpenSession {
  return { ...device, since }
}

function launchedExecution(run: LaunchedRun, index: number): DeviceExecution {
  return {
    jobExecutionId: run.firstExecutionId + index,
    execState: 'PENDING',
    attempt: 1,
    versionNumber: 1,
    statusDetails: {},
    launchedAt: run.launchedAt,
    startedAt: null,
    updatedAt: run.launchedAt,
    timesOutAt: null,
    notified: false,
    jobVersion: run.jobVersion,
  }
}
