// A session that records its notices, and a dispatcher on a real store.

import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import type { CloseReason, DeviceNotice, DeviceSession } from '../../src/domain/device/ports/device-link.ts'
import type { Transport } from '../../src/domain/device/ports/presence.ts'
import type { DeviceReport, ReportOutcome } from '../../src/domain/execution/device-report.ts'
import type { ExecutionEvent } from '../../src/domain/execution/execution.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import { ChangeSignal } from '../../src/state/change-signal.ts'
import { Deliveries } from '../../src/state/deliveries.ts'
import { Documents } from '../../src/state/documents.ts'
import { Presence } from '../../src/state/presence.ts'
import { SecretBox } from '../../src/state/secret-box.ts'
import { openSqliteUnderTest } from '../store/sqlite-under-test.ts'
import { createOne, momentAt, seedOwner, startedAt } from '../store/store-under-test.ts'

export class RecordingSession implements DeviceSession {
  readonly device: DeviceKey & { tokenId: string | null }
  readonly transport: Transport = 'mqtt'
  readonly lastSeenAt = startedAt
  wants = { list: true, next: true, cancel: true }
  isReady = true
  isHeld = false
  holds = 0
  closed: CloseReason | undefined
  /** In short, in the order they came: `next 1`, `list 1 2`, `cancel 1`. */
  notices: string[] = []
  /** What it will be told with `flush`. */
  #gathered: string[] | undefined

  constructor(device: DeviceKey) {
    this.device = { ...device, tokenId: 'token' }
  }

  send(notice: DeviceNotice, jobExecutionIds: readonly number[]): void {
    assert.ok(this.isReady, 'notified while it takes no more')
    const named = idsOf(notice)
    assert.deepEqual(jobExecutionIds, notice.kind === 'cancel' ? [] : named)
    const sent = this.#gathered ?? this.notices
    sent.push([notice.kind, ...named].join(' '))
  }

  gather(): void {
    this.#gathered ??= []
  }

  flush(): void {
    this.notices.push(...(this.#gathered ?? []))
    this.#gathered = undefined
  }

  hold(): void {
    this.isHeld = true
    this.holds++
  }

  release(): void {
    this.isHeld = false
  }

  close(reason: CloseReason): void {
    this.closed ??= reason
  }

  takeNotices(): string[] {
    return this.notices.splice(0)
  }
}

function idsOf(notice: DeviceNotice): number[] {
  switch (notice.kind) {
    case 'list':
      return notice.queue.executions.map(({ jobExecutionId }) => jobExecutionId)
    case 'next':
      return notice.next ? [notice.next.execution.jobExecutionId] : []
    case 'cancel':
      return [notice.jobExecutionId]
  }
}

type Close = () => unknown

/** One store for all tests of a file: each has an owner of its own. */
export async function openSharedStore(): Promise<Store> {
  const closes: Close[] = []
  after(async () => {
    for (const close of closes) await close()
  })
  const context = { after: (close: Close) => closes.push(close) } as unknown as TestContext
  return (await openSqliteUnderTest(context)).store
}

export type Dispatching = Awaited<ReturnType<typeof openDispatcher>>

/** `devices` are d1 and on. */
export async function openDispatcher(
  store: Store,
  { devices = 1, content = {} }: { devices?: number; content?: Partial<StoredJobContent> } = {},
) {
  const deviceIds = Array.from({ length: devices }, (_, index) => `d${index + 1}`)
  const seed = await seedOwner(store, { devices: deviceIds, content })
  const { ownerNo } = seed
  const keyOf = (deviceId: string): DeviceKey => ({ ownerNo, deviceId })
  const failures: unknown[] = []
  /** The devices of each look. */
  const looks: number[] = []
  /** Devices whose queue was another than at the look before. */
  const changed: string[] = []
  /** While they are set: a look that has read, the reading of a document, and the next batch wait; a look fails. */
  const hold: { look?: Promise<void>; document?: Promise<void>; room?: Promise<void>; failure?: Error } = {}
  const readQueues: Store['readQueues'] = async (wanted) => {
    looks.push(wanted.length)
    const { failure, look } = hold
    if (failure) throw failure
    const queues = await store.readQueues(wanted)
    for (const [index, queue] of queues.entries()) {
      if (queue !== 'unchanged') changed.push(wanted[index]?.deviceId ?? '')
    }
    await look
    return queues
  }
  const getDocument: Store['getDocument'] = async ({ jobVersion }) => {
    await hold.document
    return store.getDocument({ jobVersion })
  }
  const unresolved: number[] = []
  const queues = new ChangeSignal<string>()
  const deliveries = new Deliveries(store, () => startedAt)
  const presence = new Presence({ store, now: () => startedAt, elapsed: () => 0 })
  const dispatcher = new Dispatcher({
    store: { readQueues },
    documents: new Documents({ ...store, getDocument }, new SecretBox([]), {
      factsFor: async (_, file) => ({ facts: { ...file, url: '' } }),
      objectUrl: async () => undefined,
    }),
    onUnresolved: (execution) => unresolved.push(execution.jobExecutionId),
    deliveries,
    presence,
    queues,
    nodeNo: 0,
    clock: () => steadyInstant(startedAt),
    isFrozen: () => false,
    hasDeviceWindows: () => false,
    whenRoom: () => hold.room,
    onFailure: (error) => failures.push(error),
  })
  return {
    dispatcher,
    store,
    queues,
    presence,
    deliveries,
    deviceIds,
    failures,
    looks,
    changed,
    hold,
    keyOf,
    ownerNo,
    /** A connection that has subscribed to everything, and was told what waits. */
    async connect(deviceId: string, more: Partial<RecordingSession> = {}): Promise<RecordingSession> {
      const session = Object.assign(new RecordingSession(keyOf(deviceId)), more)
      dispatcher.open(session)
      dispatcher.refresh(session)
      await dispatcher.quiet()
      return session
    },
    /** On disk, and nobody was told. */
    launch: (ids: string[] = deviceIds): Promise<LaunchedRun> => createOne(store, seed.trigger(ids)),
    async report(deviceId: string, report: Partial<DeviceReport>): Promise<ReportOutcome> {
      const full = { device: keyOf(deviceId), moment: momentAt(startedAt), ...report } as DeviceReport
      const [outcome] = await store.recordReports([full])
      assert.ok(outcome?.kind === 'done', JSON.stringify(outcome))
      return outcome
    },
    move: (jobExecutionId: number, event: ExecutionEvent) =>
      store.moveExecution({ ownerNo, jobExecutionId, event, moment: momentAt(startedAt), actor: 'key k1' }),
  }
}
