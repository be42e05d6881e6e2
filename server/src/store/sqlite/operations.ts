// All that can be asked of the database file, by name. Runs in the threads that hold a connection;
// the writing operations each run in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { prepareApiKeys } from './api-keys.ts'
import { inTransaction } from './database.ts'
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
  const { getExecution } = prepareExecutions(db)
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
  const { moveExecution } = prepareExecutions(db)
  const { recordTriggers, forgetIdempotencyKeys } = prepareTriggers(db)
  // There and back: an update that leaves the row as it is would not reach the disk.
  const probes = ['run_id = run_id + 1', 'run_id = run_id - 1'].map((change) =>
    db.prepare(`UPDATE last_id SET ${change}`),
  )

  function deleteDevice(input: {
    ownerNo: number
    deviceId: string
    unfinishedIds: number[]
    at: number
  }): { runIds: number[] } | undefined {
    const { ownerNo, at, unfinishedIds } = input
    if (!deleteDeviceRow(input)) return undefined
    const runIds = new Set<number>()
    for (const jobExecutionId of unfinishedIds) {
      const outcome = moveExecution({ ownerNo, jobExecutionId, event: 'remove-device', at })
      if (outcome.kind === 'moved') runIds.add(outcome.execution.runId)
    }
    return { runIds: [...runIds] }
  }

  const whole =
    <In, Out>(operation: (input: In) => Out) =>
    (input: In): Out =>
      inTransaction(db, () => operation(input))

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
    probeWrite: whole((_: undefined) => {
      for (const probe of probes) probe.run()
    }),
  }
}

export type Reads = ReturnType<typeof prepareReads>
export type Writes = ReturnType<typeof prepareWrites>
