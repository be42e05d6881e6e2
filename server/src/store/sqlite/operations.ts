// All that can be asked of the database file, by name. Runs in the threads that hold a connection;
// the writing operations each run in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { prepareApiKeys } from './api-keys.ts'
import { inTransaction, isDiskFault } from './database.ts'
import { prepareDevices } from './devices.ts'
import { prepareExecutionList } from './execution-list.ts'
import { prepareExecutions } from './executions.ts'
import { prepareJobs } from './jobs.ts'
import { prepareOwners } from './owners.ts'
import { prepareRuns } from './runs.ts'
import { prepareTriggers } from './triggers.ts'

export function prepareReads(db: DatabaseSync) {
  const { findOwner, listOwners } = prepareOwners(db)
  const { listApiKeys } = prepareApiKeys(db)
  const { getJob, listJobs } = prepareJobs(db)
  const { getDevice, listDevices } = prepareDevices(db)
  const { getExecution, getLaunchedRun } = prepareExecutions(db)
  const { listExecutions } = prepareExecutionList(db)
  const { getRun, listRuns } = prepareRuns(db)
  return {
    findOwner,
    listOwners,
    listApiKeys,
    getJob,
    listJobs,
    getDevice,
    listDevices,
    getExecution,
    getLaunchedRun,
    listExecutions,
    getRun,
    listRuns,
  }
}

export function prepareWrites(db: DatabaseSync) {
  const { createOwner } = prepareOwners(db)
  const { createApiKey, revokeApiKey, recordKeyUse } = prepareApiKeys(db)
  const { putJob, deleteJob } = prepareJobs(db)
  const { putDevices, deleteDeviceRow, setDeviceToken } = prepareDevices(db)
  const { moveExecution, moveExecutions } = prepareExecutions(db)
  const { recordTriggers, forgetIdempotencyKeys } = prepareTriggers(db)
  // There and back: an update that leaves the row as it is would not reach the disk.
  const thereAndBack = ['run_id = run_id + 1', 'run_id = run_id - 1'].map((change) =>
    db.prepare(`UPDATE last_id SET ${change}`),
  )
  const probeWrite = (_?: undefined) => {
    for (const update of thereAndBack) update.run()
  }

  function deleteDevice(input: {
    ownerNo: number
    deviceId: string
    unfinishedIds: number[]
    at: number
  }): { runIds: number[] } | undefined {
    const { ownerNo, at, unfinishedIds } = input
    if (!deleteDeviceRow(input)) return undefined
    return { runIds: moveExecutions({ ownerNo, ids: unfinishedIds, event: 'remove-device', at }) }
  }

  const whole =
    <In, Out>(operation: (input: In) => Out) =>
    (input: In): Out => {
      try {
        return inTransaction(db, () => operation(input))
      } catch (error) {
        if (isDiskFault(error)) overwriteFailed()
        throw error
      }
    }

  // A commit whose sync failed has not happened, but it stands in the log, and a crash right now would bring it
  // back after its caller was told otherwise. Whatever is written next takes its place.
  function overwriteFailed(): void {
    try {
      inTransaction(db, probeWrite)
    } catch {
      // The write reaches the log or fails like the one before; either way there is nothing more to do.
    }
  }

  return {
    createOwner: whole(createOwner),
    createApiKey: whole(createApiKey),
    revokeApiKey: whole(revokeApiKey),
    recordKeyUse: whole(recordKeyUse),
    putJob: whole(putJob),
    deleteJob: whole(deleteJob),
    putDevices: whole(putDevices),
    deleteDevice: whole(deleteDevice),
    setDeviceToken: whole(setDeviceToken),
    recordTriggers: whole(recordTriggers),
    moveExecution: whole(moveExecution),
    forgetIdempotencyKeys: whole(forgetIdempotencyKeys),
    probeWrite: whole(probeWrite),
  }
}

export type Reads = ReturnType<typeof prepareReads>
export type Writes = ReturnType<typeof prepareWrites>
