// The operations of the threads with a connection, by name: the steps over plain tables, and those that only this store has. Each
// write is one transaction.

import type { DatabaseSync } from 'node:sqlite'
import type { DevicePut } from '../../domain/device/ports/devices.ts'
import type { Enrolling, EnrollOutcome } from '../../domain/device/ports/enrollments.ts'
import { RunCursors } from '../../domain/execution/apply-clocks.ts'
import type { Moment } from '../../domain/execution/execution.ts'
import { originIn } from '../audit-log.ts'
import { createFirstKey } from '../tables/api-keys.ts'
import { clockWrites } from '../tables/clocks.ts'
import { putDevices } from '../tables/device-puts.ts'
import { listSelected, selectionSnapshots } from '../tables/device-selection.ts'
import { enrollDevice } from '../tables/enrollments.ts'
import { type ExecutionList, listExecutions } from '../tables/execution-list.ts'
import { type DeviceRemoval, deleteDevice } from '../tables/execution-moves.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import { readLevels } from '../tables/fleet.ts'
import { type GoneRemoval, removeGone } from '../tables/gone-devices.ts'
import { putJob } from '../tables/jobs.ts'
import { RunPurge } from '../tables/retention.ts'
import { runFailureSnapshots } from '../tables/run-failures.ts'
import { runsWithinSnapshots } from '../tables/runs-within.ts'
import { bind, type Input } from '../tables/step.ts'
import { catalogueWrites, reads, snapshots, writes } from '../tables/steps.ts'
import { countUnfinished } from '../tables/unfinished-count.ts'
import type { DeviceRow } from './catalogue.ts'
import { inSnapshot, inTransaction, isDiskFault } from './database.ts'
import { noWaiters, prepareDrafts } from './draft-writer.ts'
import { prepareCheckpoint } from './log-length.ts'
import { openNamedQueries } from './named-queries.ts'
import { presenceWrites } from './presence.ts'
import { type QueueQuestion, readQueues } from './queues.ts'
import type { ReportMessage } from './report-message.ts'
import { recordReports } from './reports.ts'
import { prepareTriggers } from './triggers.ts'
import { openWrites, type WriteListener } from './writes.ts'

/** Operations that the main thread passes on unchanged (sqlite-store.ts). */
export const plainReads = { ...reads, ...snapshots }
export const plainWrites = { ...writes, ...catalogueWrites, ...presenceWrites }

// 500 executions with two history entries each take the writer 3 ms (npm run bench:retention).
const purgeLimits = { rows: 500, executions: 500, outputBytes: 4 * 1024 * 1024 }

export function prepareReads(db: DatabaseSync) {
  const queries = openNamedQueries(db)
  return {
    ...bind(reads, (step) => step(queries)),
    ...bind(snapshots, (step) => inSnapshot(db, () => step(queries))),
    listExecutions: (list: ExecutionList) => inSnapshot(db, () => listExecutions(queries, list)),
    ...bind(selectionSnapshots, (step) => inSnapshot(db, () => step(queries))),
    ...bind(runFailureSnapshots, (step) => inSnapshot(db, () => step(queries))),
    ...bind(runsWithinSnapshots, (step) => inSnapshot(db, () => step(queries))),
    listSelected: (list: Parameters<typeof listSelected>[1]) =>
      inSnapshot(db, () => listSelected(queries, list)),
    readQueues: (wanted: (QueueQuestion | undefined)[]) => inSnapshot(db, () => readQueues(queries, wanted)),
    getLaunchedRun: (run: { runId: number }) => getLaunchedRun(queries, run),
    readLevels: (wanted: Parameters<typeof readLevels>[1]) =>
      inSnapshot(db, () => readLevels(queries, wanted)),
    countUnfinished: (of: Parameters<typeof countUnfinished>[1]) => countUnfinished(queries, of),
  }
}

export function prepareWrites(db: DatabaseSync, listener?: WriteListener, draftOptions = noWaiters) {
  const queries = openWrites(db, listener)
  const triggers = prepareTriggers(db, queries.log)
  const { recordTriggers, recordPacked } = triggers
  const { writeRun, continueRun, dropDraft, dropLeft } = prepareDrafts(db, queries, triggers, draftOptions)
  const checkpoint = prepareCheckpoint(db)
  const cursors = new RunCursors()
  const { fireClocks } = clockWrites(cursors)
  const purge = new RunPurge(purgeLimits)
  // Two updates, because one that does not change the row would not reach the disk.
  const probeUpdates = ['run_id = run_id + 1', 'run_id = run_id - 1'].map((change) =>
    db.prepare(`UPDATE last_id SET ${change}`),
  )
  const probeWrite = (_?: undefined) => {
    for (const update of probeUpdates) update.run()
  }

  /** `made`: the device, if it was created. */
  async function enroll(enrolling: Enrolling): Promise<EnrollOutcome & { made?: DeviceRow }> {
    let made: DeviceRow | undefined
    const outcome = await enrollDevice(queries, enrolling, async (put) => {
      for (const { deviceNo } of await putDevices(queries, [put])) made = { ...put, deviceNo }
    })
    return { ...outcome, ...(made && { made }) }
  }

  const inOneTransaction =
    <In, Out>(operation: (input: In) => Out | Promise<Out>, onRollback: () => void = () => undefined) =>
    async (input: In): Promise<Out> => {
      queries.audit.origin = originIn(input)
      try {
        return await inTransaction(db, () => operation(input))
      } catch (error) {
        onRollback()
        return afterFailure(error)
      }
    }

  /** The same without a promise, for frequent synchronous operations. */
  const atOnce =
    <In, Out>(operation: (input: In) => Out) =>
    (input: In): Out | Promise<Out> => {
      queries.audit.origin = undefined
      try {
        return inTransaction(db, () => operation(input))
      } catch (error) {
        return afterFailure(error)
      }
    }

  async function afterFailure(error: unknown): Promise<never> {
    if (isDiskFault(error)) await overwriteFailed()
    throw error
  }

  // A commit whose sync failed has not happened, but it is in the log, and a crash now would restore it although its
  // caller got an error. The next write replaces it.
  async function overwriteFailed(): Promise<void> {
    try {
      await inTransaction(db, probeWrite)
    } catch {
      // The write reaches the log or fails like the previous one; in both cases nothing more can be done.
    }
  }

  return {
    ...bind(plainWrites, (step, input) => inOneTransaction(() => step(queries))(input)),
    // These have more input or output than the port, for the in-memory state of the main thread.
    createFirstKey: inOneTransaction((first: Input<'createFirstKey'>) => createFirstKey(queries, first)),
    putJob: inOneTransaction((put: Input<'putJob'>) => putJob(queries, put)),
    enrollDevice: inOneTransaction(enroll),
    putDevices: inOneTransaction((puts: DevicePut[]) => putDevices(queries, puts)),
    deleteDevice: inOneTransaction((removal: DeviceRemoval) => deleteDevice(queries, removal)),
    removeGone: inOneTransaction((removal: GoneRemoval) => removeGone(queries, removal)),
    recordTriggers: atOnce(recordTriggers),
    recordPacked: atOnce(recordPacked),
    writeRun: inOneTransaction(writeRun),
    continueRun: inOneTransaction(continueRun),
    dropDraft: inOneTransaction(dropDraft),
    recordReports: inOneTransaction((reports: ReportMessage[]) => recordReports(queries, reports)),
    // The position after a batch must not be ahead of the data on disk.
    fireClocks: inOneTransaction(
      (moment: Moment) => fireClocks(queries, moment),
      () => cursors.clear(),
    ),
    purgeRuns: inOneTransaction(
      (age: Input<'purgeRuns'>) => {
        dropLeft()
        return purge.purgeSome(queries, age)
      },
      () => purge.reset(),
    ),
    eraseLeftovers: inOneTransaction((_?: undefined) => {
      dropLeft()
      return purge.eraseSome(queries)
    }),
    probeWrite: inOneTransaction(probeWrite),
    checkpoint: (_?: undefined) => checkpoint(),
  }
}

export type Reads = ReturnType<typeof prepareReads>
export type Writes = ReturnType<typeof prepareWrites>
