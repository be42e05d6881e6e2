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
  /** Its queue is about to be read. */
  isAwake(notices: NoticeState): boolean
  /** Its queue is to be read. */
  wake(notices: NoticeState): void
  /** Devices that long-poll over HTTP. */
  notifyWaiting(device: DeviceKey): void
  /** Some devices of this owner have windows of their own. */
  hasDeviceWindows(ownerNo: number): boolean
  onFailure(error: unknown): void
}

// Devices notified before yielding to the event loop.
const devicesPerBatch = 250

export class RunAnnouncer {
  readonly #deps: AnnouncerDeps
  #launching: Promise<void> = Promise.resolve()
  #launches = 0

  constructor(deps: AnnouncerDeps) {
    this.#deps = deps
  }

  /** How many were begun. */
  get launches(): number {
    return this.#launches
  }

  beginLaunch(): number {
    return ++this.#launches
  }

  launched(ownerNo: number, run: LaunchedRun, launch: number): void {
    this.#next(() => this.#notifyRun(ownerNo, run, launch))
  }

  released(ownerNo: number, released: ReleasedPart): void {
    const launch = this.beginLaunch()
    this.#next(() => this.#notifyReleased(ownerNo, released, launch))
  }

  /** Resolves when all of them were notified. */
  quiet(): Promise<void> {
    return this.#launching
  }

  #next(notify: () => Promise<void>): void {
    this.#launching = this.#launching.then(notify).catch((error: unknown) => this.#deps.onFailure(error))
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
      // Whether its window is open there, the store knows.
      if (notices && document && !isWindowed)
        this.#notifyLaunched(notices, launch, firstOffer(run, run.firstExecutionId + index), document, held)
      else if (notices) this.#deps.wake(notices)
    })
  }

  /** As a run that was launched; but what is released may be older than what its device knows of, and come before it. */
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
        const end = Math.min(start + devicesPerBatch, all.length)
        for (let index = start; index < end; index++) notify(all.at(index) as T, index, held)
        held.flush()
      }
    } finally {
      held.flush()
      void held.release()
    }
  }

  /** Undefined: it differs by device, so each queue is read. */
  async #sharedDocument(ownerNo: number, run: HandedOut): Promise<DeviceDocument | undefined> {
    try {
      const document = await this.#deps.documents.ofRun({ ...run, ownerNo })
      return typeof document === 'function' ? undefined : document
    } catch (error) {
      // Of each execution its queue says so.
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
