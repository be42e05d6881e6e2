// All that can be asked of the database file, by name. Runs in the threads that hold a connection;
// the writing operations each run in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { prepareApiKeys } from './api-keys.ts'
import { prepareClocks } from './clocks.ts'
import { inTransaction, isDiskFault } from './database.ts'
import { prepareDevices } from './devices.ts'
import { prepareEnrollments } from './enrollments.ts'
import { prepareEventLog, prepareEvents } from './events.ts'
import { prepareExecutionList } from './execution-list.ts'
import { prepareExecutions } from './executions.ts'
import { prepareFleet } from './fleet.ts'
import { prepareJobs } from './jobs.ts'
import { prepareMoves } from './moves.ts'
import { prepareOutputs } from './outputs.ts'
import { prepareOwnerMoves } from './owner-moves.ts'
import { prepareOwners } from './owners.ts'
import { preparePolicies } from './policies.ts'
import { preparePresence } from './presence.ts'
import { prepareQueues } from './queues.ts'
import { prepareReports } from './reports.ts'
import { prepareRetention } from './retention.ts'
import { prepareRuns } from './runs.ts'
import { prepareSessions } from './sessions.ts'
import { prepareTransitions } from './transitions.ts'
import { prepareTriggers } from './triggers.ts'
import { prepareDeliveryLog, prepareDeliveryWrites } from './webhook-deliveries.ts'
import { prepareWebhooks } from './webhooks.ts'

export function prepareReads(db: DatabaseSync) {
  const { findOwner, listOwners } = prepareOwners(db)
  const { listApiKeys } = prepareApiKeys(db)
  const { getJob, listJobs } = prepareJobs(db)
  const devices = prepareDevices(db)
  const { getDevice, listDevices, findDeviceByToken, findDeviceByCertificate } = devices
  const { findEnrollment, listEnrollments } = prepareEnrollments(db, devices)
  const { getExecution, getLaunchedRun } = prepareExecutions(db)
  const { listExecutions } = prepareExecutionList(db)
  const { getRun, listRuns, listUnsuccessful } = prepareRuns(db)
  const { listTransitions } = prepareTransitions(db)
  const { readQueues, getDeviceExecution } = prepareQueues(db)
  const { getDocument } = preparePolicies(db)
  const { readOutput } = prepareOutputs(db)
  const { listEvents, getEvent, getEventBounds, findEventBefore } = prepareEvents(db)
  const { findSession } = prepareSessions(db)
  const webhooks = prepareWebhooks(db)
  const { getWebhook, listWebhooks, listActiveWebhooks } = webhooks
  return {
    findOwner,
    listOwners,
    listApiKeys,
    getJob,
    listJobs,
    getDevice,
    listDevices,
    findDeviceByToken,
    findDeviceByCertificate,
    findEnrollment,
    listEnrollments,
    getExecution,
    getLaunchedRun,
    listExecutions,
    getRun,
    listRuns,
    listUnsuccessful,
    listTransitions,
    readQueues,
    getDeviceExecution,
    getDocument,
    readOutput,
    listEvents,
    getEvent,
    getEventBounds,
    findEventBefore,
    findSession,
    ...prepareFleet(db),
    getWebhook,
    listWebhooks,
    listActiveWebhooks,
    ...prepareDeliveryLog(db, webhooks),
  }
}

/** `onEvents`: what was just asked for has made events. */
export function prepareWrites(db: DatabaseSync, onEvents: () => void = () => undefined) {
  const log = prepareEventLog(db, onEvents)
  const { purgeEvents } = log
  const { createOwner } = prepareOwners(db)
  const { createFirstKey, createApiKey, revokeApiKey, recordKeyUse } = prepareApiKeys(db)
  const { putJob, deleteJob } = prepareJobs(db)
  const devices = prepareDevices(db, log)
  const { putDevices, deleteDeviceRow, setDeviceToken } = devices
  const { createEnrollment, revokeEnrollment, enrollDevice } = prepareEnrollments(db, devices)
  const { getExecution } = prepareExecutions(db)
  const moves = prepareMoves(db, log)
  const { recordReports } = prepareReports(db, moves)
  const { moveExecution, moveRun, deleteDevice } = prepareOwnerMoves(db, moves, {
    getExecution,
    deleteDeviceRow,
  })
  const { fireClocks, clearCursors } = prepareClocks(db, moves)
  const { recordPresence, setAllOffline, recordDeliveries } = preparePresence(db, log)
  const { recordTriggers, purgeIdempotencyKeys } = prepareTriggers(db, log)
  const sessions = prepareSessions(db)
  const { purgeRuns, forgetRetentionPlaces } = prepareRetention(db, purgeIdempotencyKeys)
  const webhooks = prepareWebhooks(db)
  const { recordAttempts, replayDelivery, purgeDeliveries } = prepareDeliveryWrites(db, webhooks)
  // There and back: an update that leaves the row as it is would not reach the disk.
  const thereAndBack = ['run_id = run_id + 1', 'run_id = run_id - 1'].map((change) =>
    db.prepare(`UPDATE last_id SET ${change}`),
  )
  const probeWrite = (_?: undefined) => {
    for (const update of thereAndBack) update.run()
  }

  const whole =
    <In, Out>(operation: (input: In) => Out, onTakenBack: () => void = () => undefined) =>
    (input: In): Out => {
      try {
        return inTransaction(db, () => operation(input))
      } catch (error) {
        onTakenBack()
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
    createFirstKey: whole(createFirstKey),
    createApiKey: whole(createApiKey),
    revokeApiKey: whole(revokeApiKey),
    recordKeyUse: whole(recordKeyUse),
    putJob: whole(putJob),
    deleteJob: whole(deleteJob),
    putDevices: whole(putDevices),
    deleteDevice: whole(deleteDevice),
    setDeviceToken: whole(setDeviceToken),
    createEnrollment: whole(createEnrollment),
    revokeEnrollment: whole(revokeEnrollment),
    enrollDevice: whole(enrollDevice),
    recordTriggers: whole(recordTriggers),
    moveExecution: whole(moveExecution),
    moveRun: whole(moveRun),
    recordReports: whole(recordReports),
    fireClocks: whole(fireClocks, clearCursors),
    recordPresence: whole(recordPresence),
    setAllOffline: whole(setAllOffline),
    recordDeliveries: whole(recordDeliveries),
    purgeIdempotencyKeys: whole(purgeIdempotencyKeys),
    purgeEvents: whole(purgeEvents),
    createSession: whole(sessions.createSession),
    deleteSession: whole(sessions.deleteSession),
    purgeSessions: whole(sessions.purgeSessions),
    purgeRuns: whole(purgeRuns, forgetRetentionPlaces),
    putWebhook: whole(webhooks.putWebhook),
    deleteWebhook: whole(webhooks.deleteWebhook),
    pauseWebhook: whole(webhooks.pauseWebhook),
    resumeWebhook: whole(webhooks.resumeWebhook),
    setWebhookSecret: whole(webhooks.setWebhookSecret),
    replayWebhook: whole(webhooks.replayWebhook),
    replayDelivery: whole(replayDelivery),
    recordAttempts: whole(recordAttempts),
    purgeDeliveries: whole(purgeDeliveries),
    probeWrite: whole(probeWrite),
  }
}

export type Reads = ReturnType<typeof prepareReads>
export type Writes = ReturnType<typeof prepareWrites>
