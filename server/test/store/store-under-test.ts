// The interface of a store for the shared suite, and shared helpers.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { ExecState } from '@jobcast/contract'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Slice, Sliced } from '../../src/domain/common/ports/slices.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import type { DeviceQueue } from '../../src/domain/execution/device-report.ts'
import type { ExecutionEvent, Moment } from '../../src/domain/execution/execution.ts'
import type {
  ExecutionFilter,
  ExecutionMove,
  Moved,
  StoredExecution,
} from '../../src/domain/execution/ports/executions.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import type { StoredRun } from '../../src/domain/trigger/ports/runs.ts'
import type { Trigger, TriggerOutcome } from '../../src/domain/trigger/trigger.ts'

export type StoreUnderTest = {
  /** The one that is open now. */
  readonly store: Store
  /** Closes it and opens it again on the same data, so that whatever it kept in memory is rebuilt. */
  reopen(): Promise<Store>
  /** From now on the database itself refuses runs, jobs and devices put or deleted, and executions moved, at this instant. */
  failAt(instant: number): Promise<void>
  /** How many rows a table has. */
  countRows(table: string): Promise<number>
  /** One statement, on a connection of its own. */
  execute(sql: string): Promise<void>
}

/** Opens one on data of its own and closes it after the test. */
export type OpenStore = (t: TestContext) => Promise<StoreUnderTest>

export type Seed = {
  ownerNo: number
  ownerId: string
  /** A trigger of the first job, launched at `startedAt`, unless stated otherwise. */
  trigger(deviceIds: string[], more?: Partial<Trigger>): Trigger
}

/** Any principal, for tests in which it does not matter. */
export const by = { principal: 'key:k1', lineage: 'key:k1' }

/** Any creator, for tests in which it does not matter. */
export const unknownMaker = { createdBy: null, createdBySession: null }

/** When all tests begin. */
export const startedAt = Date.UTC(2026, 10, 15)

/** Both clocks say the same unless stated otherwise, and chance takes nothing off. */
export function momentAt(at: number, more?: Partial<Moment>): Moment {
  return { at, clock: steadyInstant(at), chance: 0, cancelDeadlineMs: 60_000, ...more }
}

/** Of an idempotency key that is made then; one made before `validAfter` has expired. */
export function keyTimes(madeAt: number, validAfter = 0) {
  return { madeAt: steadyInstant(madeAt), validAfter: steadyInstant(validAfter) }
}

/** Runs that ended before, and keys that are older; both clocks say the same. */
export function olderThan(instant: number) {
  return { endedBefore: instant, now: instant, keysOlderThan: steadyInstant(instant) }
}

export const emptyContent: StoredJobContent = {
  description: '',
  document: {},
  expireAfterSeconds: null,
  timeoutSeconds: null,
  deadlineSeconds: null,
  retry: null,
}

/** An owner of its own with jobs (of the given content) and devices, so that tests can share one store. */
export async function seedOwner(
  store: Store,
  {
    jobs = ['restart'],
    devices = ['d1', 'd2', 'd3'],
    content = {},
  }: { jobs?: string[]; devices?: string[]; content?: Partial<StoredJobContent> } = {},
): Promise<Seed> {
  const ownerId = `ow_${randomUUID()}`
  const owner = await store.createOwner({ ownerId, ownerName: ownerId, createdAt: startedAt })
  assert.ok(owner !== 'name-taken')
  const { ownerNo } = owner
  for (const jobName of jobs) {
    await store.putJob({ ownerNo, jobName, content: { ...emptyContent, ...content }, at: startedAt })
  }
  await store.putDevices(devices.map((deviceId) => devicePut(ownerNo, deviceId)))
  return {
    ownerNo,
    ownerId,
    trigger: (deviceIds, more) => ({
      ownerNo,
      jobName: jobs[0] ?? '',
      deviceIds,
      launchedAt: startedAt,
      clock: steadyInstant(more?.launchedAt ?? startedAt),
      keyId: 'k1',
      retryOf: null,
      idempotency: null,
      ...more,
    }),
  }
}

/** The events that lead there from PENDING. */
export const wayTo: Record<ExecState, ExecutionEvent[]> = {
  PENDING: [],
  IN_PROGRESS: ['start'],
  CANCELING: ['start', 'cancel'],
  SUCCEEDED: ['start', 'succeed'],
  FAILED: ['start', 'fail'],
  TIMED_OUT: ['start', 'time-out'],
  REJECTED: ['reject'],
  EXPIRED: ['expire'],
  CANCELED: ['cancel'],
}

/** Moves an execution that waits, of a job without retries, into the state. */
export async function bringTo(
  store: Store,
  ownerNo: number,
  jobExecutionId: number,
  state: ExecState,
  moment = momentAt(startedAt),
): Promise<void> {
  for (const event of wayTo[state]) {
    const outcome = await store.moveExecution(moveOf(ownerNo, jobExecutionId, event, moment))
    assert.equal(outcome.kind, 'moved')
  }
}

export function moveOf(
  ownerNo: number,
  jobExecutionId: number,
  event: ExecutionEvent,
  moment = momentAt(startedAt),
): ExecutionMove {
  return { ownerNo, jobExecutionId, event, moment, actor: 'key k1' }
}

/** What the clocks moved of these owners by then; of others something may be left from the tests before. */
export async function fireClocks(
  store: Store,
  ownerNos: number | number[],
  moment: Moment,
): Promise<Moved[]> {
  const all: Moved[] = []
  let calls = 0
  for (let more = true; more; ) {
    assert.ok(++calls < 1000, 'clocks that do not come to an end')
    const fired = await store.fireClocks(moment)
    all.push(...fired.moved)
    more = fired.more
  }
  const wanted = [ownerNos].flat()
  return all.filter((moved) => wanted.includes(moved.ownerNo))
}

export async function readQueue(store: Store, device: DeviceKey): Promise<DeviceQueue> {
  const [queue] = await store.readQueues([device])
  assert.ok(typeof queue === 'object')
  return queue
}

export function devicePut(ownerNo: number, deviceId: string, deviceName = `name of ${deviceId}`) {
  return { ownerNo, deviceId, deviceName, tags: [] as string[], at: startedAt }
}

export async function createOne(store: Store, trigger: Trigger): Promise<LaunchedRun> {
  const [outcome] = await store.createExecutions([trigger])
  return runOf(outcome)
}

export function runOf(outcome: TriggerOutcome | undefined): LaunchedRun {
  assert.ok(outcome && 'run' in outcome, `no run but ${JSON.stringify(outcome)}`)
  return outcome.run
}

/** What a caller is answered, without what a store may have left in it. */
export function answered({ devices, ...run }: LaunchedRun) {
  return { ...run, devices: devices.map(({ deviceId, deviceName }) => ({ deviceId, deviceName })) }
}

/** The whole list, slice by slice; no slice may be longer than its limit. */
export async function readAll<T, Key>(
  read: (slice: Slice<Key>) => Promise<Sliced<T, Key>>,
  limit = 200,
): Promise<T[]> {
  const all: T[] = []
  let after: Key | undefined
  do {
    const { items, next } = await read({ after, limit })
    assert.ok(items.length <= limit)
    assert.notEqual(next, after ?? null, 'a list that does not move on')
    all.push(...items)
    after = next
  } while (after !== undefined)
  return all
}

export function allExecutions(
  store: Store,
  ownerNo: number,
  filter: ExecutionFilter = {},
  limit?: number,
): Promise<StoredExecution[]> {
  return readAll((slice: Slice<number>) => store.listExecutions({ ownerNo, filter, slice }), limit)
}

export function allRuns(store: Store, ownerNo: number): Promise<StoredRun[]> {
  return readAll((slice: Slice<number>) => store.listRuns({ ownerNo, filter: {}, slice }))
}

/** Each run of the owner has exactly its executions, and counts them as they are. */
export async function assertRunsAddUp(store: Store, ownerNo: number): Promise<void> {
  const executions = Map.groupBy(await allExecutions(store, ownerNo), (execution) => execution.runId)
  const runs = await allRuns(store, ownerNo)
  assert.deepEqual(
    runs.map((run) => run.runId),
    [...executions.keys()],
  )
  for (const run of runs) {
    const members = executions.get(run.runId) ?? []
    const counted = Object.fromEntries(Object.keys(run.counts).map((state) => [state, 0]))
    for (const { execState } of members) counted[execState] = (counted[execState] ?? 0) + 1
    assert.equal(members.length, run.total)
    assert.equal(new Set(members.map((execution) => execution.deviceId)).size, run.total)
    assert.deepEqual(run.counts, counted)
  }
}
