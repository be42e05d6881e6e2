// Notifies connected devices of a run that was just committed, one run after another, each in batches.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultPriority } from '@jobcast/contract/words'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { DeviceExecution } from '../domain/execution/device-report.ts'
import {
  type DeviceDocument,
  type HandedOut,
  UnresolvedDocument,
} from '../domain/execution/ports/documents.ts'
import type { ReleasedPart } from '../domain/rollout/ports/rollouts.ts'
import type { DeviceList, LaunchedRun } from '../domain/trigger/launched-run.ts'
import type { ByDevice } from '../state/by-device.ts'
import type { Deliveries } from '../state/deliveries.ts'
import type { Documents } from '../state/documents.ts'
import { HeldSessions } from './held-sessions.ts'
import type { NoticeState } from './notice-state.ts'

type AnnouncerDeps = {
  documents: Documents
  deliveries: Pick<Deliveries, 'notified' | 'delivered'>
  /** The devices connected here. */
  connected: ByDevice<NoticeState>
  /** Whether the device's queue is about to be read. */
  isAwake(notices: NoticeState): boolean
  /** Schedules a read of the device's queue. */
  wake(notices: NoticeState): void
  /** Devices that long-poll over HTTP. */
  notifyWaiting(device: DeviceKey): void
  /** Some devices of this owner have windows of their own. */
  hasDeviceWindows(ownerNo: number): boolean
  /** Resolves when the sessions take another batch; undefined: now. */
  whenRoom?: (() => Promise<void> | undefined) | undefined
  onFailure(error: unknown): void
}

// Devices notified before yielding to the event loop.
const devicesPerBatch = 250

export class RunAnnouncer {
  readonly #deps: AnnouncerDeps
  #launching: Promise<void> = Promise.resolve()
  #launches = 0
  #pending = 0

  constructor(deps: AnnouncerDeps) {
    this.#deps = deps
  }

  /** Number of launches begun so far. */
  get launches(): number {
    return this.#launches
  }

  /** Number of devices of runs that are not announced yet. */
  get pending(): number {
    return this.#pending
  }

  beginLaunch(): number {
    return ++this.#launches
  }

  launched(ownerNo: number, run: LaunchedRun, launch: number): void {
    this.#next(run.devices.length, () => this.#notifyRun(ownerNo, run, launch))
  }

  released(ownerNo: number, released: ReleasedPart): void {
    const launch = this.beginLaunch()
    this.#next(released.executions.length, () => this.#notifyReleased(ownerNo, released, launch))
  }

  /** Resolves when all devices were notified. */
  quiet(): Promise<void> {
    return this.#launching
  }

  #next(devices: number, notify: () => Promise<void>): void {
    this.#pending += devices
    this.#launching = this.#launching
      .then(notify)
      .catch((error: unknown) => this.#deps.onFailure(error))
      .finally(() => {
        this.#pending -= devices
      })
  }

  /**
   * If a device was notified that its queue is empty, the queue now holds exactly this execution, so no read is needed.
   * That is the common case of a fan-out, where a read per device would dominate the cost. A device that knows its next
   * execution and subscribes to nothing else needs no read either: reading made triggers of busy devices twice as slow.
   */
  async #notifyRun(ownerNo: number, run: LaunchedRun, launch: number): Promise<void> {
    const { connected } = this.#deps
    const document = await this.#sharedDocument(ownerNo, run)
    const isWindowed = run.isWindowed || this.#deps.hasDeviceWindows(ownerNo)
    await this.#inBatches(run.devices, ({ deviceId }, index, held) => {
      const device = { ownerNo, deviceId }
      this.#deps.notifyWaiting(device)
      const notices = connected.get(device)
      // Only the store can tell whether a window of the device is open.
      if (notices && document && !isWindowed)
        this.#notifyLaunched(notices, launch, firstOffer(run, run.firstExecutionId + index), document, held)
      else if (notices) this.#deps.wake(notices)
    })
  }

  /** Like a launched run, except that a released execution may come before those the device already knows. */
  async #notifyReleased(ownerNo: number, released: ReleasedPart, launch: number): Promise<void> {
    const { connected } = this.#deps
    const document = await this.#sharedDocument(ownerNo, released)
    const isWindowed = released.isWindowed || this.#deps.hasDeviceWindows(ownerNo)
    await this.#inBatches(released.executions, ({ deviceId, jobExecutionId }, _index, held) => {
      const device = { ownerNo, deviceId }
      this.#deps.notifyWaiting(device)
      const notices = connected.get(device)
      if (notices?.knowsEmpty && document && !isWindowed)
        this.#notifyLaunched(notices, launch, firstOffer(released, jobExecutionId), document, held)
      else if (notices) this.#deps.wake(notices)
    })
  }

  async #inBatches<T>(
    all: Pick<DeviceList<T>, 'length' | 'at'>,
    notify: (one: T, index: number, held: HeldSessions) => void,
  ): Promise<void> {
    const held = new HeldSessions(all.length > devicesPerBatch)
    try {
      for (let start = 0; start < all.length; start += devicesPerBatch) {
        if (start > 0) {
          await nextTurn()
          await held.releaseIfMany()
        }
        await this.#deps.whenRoom?.()
        const end = Math.min(start + devicesPerBatch, all.length)
        for (let index = start; index < end; index++) notify(all.at(index) as T, index, held)
        held.flush()
      }
    } finally {
      held.flush()
      void held.release()
    }
  }

  /** Undefined: the document differs by device, so each queue is read. */
  async #sharedDocument(ownerNo: number, run: HandedOut): Promise<DeviceDocument | undefined> {
    try {
      const document = await this.#deps.documents.ofRun({ ...run, ownerNo })
      return typeof document === 'function' ? undefined : document
    } catch (error) {
      // Reported per execution when its queue is read.
      if (error instanceof UnresolvedDocument) return undefined
      throw error
    }
  }

  #notifyLaunched(
    notices: NoticeState,
    launch: number,
    execution: DeviceExecution,
    document: DeviceDocument,
    held: HeldSessions,
  ): void {
    // Announcing a large run takes time: a device woken since may already have ended its execution.
    const isLate = notices.wokenAt >= launch || notices.isBeingRead || this.#deps.isAwake(notices)
    if (isLate || !notices.knowsEmpty) {
      if (isLate || !notices.knowsNextBefore(execution)) this.#deps.wake(notices)
      return
    }
    const { session } = notices
    if (!session.isReady) {
      // The next sweep retries.
      notices.isCurrent = false
      return
    }
    const { list, next } = session.wants
    const ids = [execution.jobExecutionId]
    held.add(session)
    if (list)
      session.send({ kind: 'list', queue: { mark: undefined, total: 1, executions: [execution] } }, ids)
    if (next) session.send({ kind: 'next', next: { execution, document } }, ids)
    this.#deps.deliveries.notified(execution.jobExecutionId)
    notices.rememberOnly(execution)
  }
}

/** An execution as it is before anything has happened to it. */
function firstOffer(
  run: Pick<LaunchedRun, 'runId' | 'launchedAt' | 'jobVersion' | 'priority' | 'traceParent'>,
  jobExecutionId: number,
): DeviceExecution {
  const { runId, launchedAt, jobVersion, priority = defaultPriority, traceParent } = run
  const execution: DeviceExecution = {
    jobExecutionId,
    execState: 'PENDING',
    attempt: 1,
    versionNumber: 1,
    statusDetails: noDetails,
    launchedAt,
    startedAt: null,
    updatedAt: launchedAt,
    timesOutAt: null,
    notified: false,
    runId,
    jobVersion,
    priority,
  }
  return traceParent === undefined ? execution : { ...execution, traceParent }
}

const noDetails = {}
