// A run on very many devices, in one transaction: it is invisible before its commit, and does not block others, because it locks
// its owner's catalogue only after its executions are written. From then on none of its devices can be deleted before its commit.
// Executions of devices that were deleted before end with it.

import { actorOf } from '../../domain/access/caller.ts'
import { runEntry } from '../../domain/audit/audit-entry.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import {
  type EarlierCall,
  jobOf,
  newRun,
  type Refusal,
  refuseUnknownWindow,
  refuseUnplanned,
  requestOf,
  toLaunchedRun,
} from '../../domain/trigger/launch-run.ts'
import type { LargeTrigger, TriggerOutcome } from '../../domain/trigger/trigger.ts'
import { insertInto } from '../queries.ts'
import { runParameters, runRequest } from '../schema/tables.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import { endOfGoneDevices, newestEvent } from '../tables/gone-devices.ts'
import { hasValues, newRunFields, toRunRow, toValuesRow } from '../tables/runs.ts'
import { HOLD } from './catalogue.ts'
import { type Database, takeIds } from './database.ts'
import { claimKeys, findEarlierCalls } from './idempotency-keys.ts'
import type { OldestRuns } from './oldest-runs.ts'
import type { Partitions } from './partitions.ts'
import { readNames } from './read-names.ts'
import { INSERT_EXECUTIONS } from './send-executions.ts'
import type { Transaction } from './transaction.ts'
import { findFull, readWindows } from './trigger-group.ts'
import { writeRollout } from './triggers.ts'

const batchSize = 5000
const INSERT_RUN = insertInto(newRunFields)
const INSERT_REQUEST = insertInto(runRequest.fields)
const INSERT_PARAMETERS = insertInto(runParameters.fields)
/** Its idempotency key belongs to another call, so the transaction is rolled back. */
class MadeBefore extends Error {
  readonly earlier: EarlierCall

  constructor(earlier: EarlierCall) {
    super('made before')
    this.earlier = earlier
  }
}

/** Its job, window or another resource was deleted, so the transaction is rolled back. */
class RunRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.kind)
    this.refusal = refusal
  }
}

export function buildLargeRunSteps(
  db: Database,
  partitions: Partitions,
  oldestRuns: OldestRuns,
): Pick<Store, 'createLargeRun'> {
  async function record(transaction: Transaction, trigger: LargeTrigger): Promise<TriggerOutcome> {
    const { ownerNo, jobName, deviceNos, values, launchedAt } = trigger
    const listed = { ...trigger, deviceIds: [] }
    const names = await readNames(transaction.named, [listed])
    const job = jobOf(listed, names.get(ownerNo)?.jobs.get(jobName))
    if (job === undefined) return { kind: 'unknown-job' }
    const unplanned = refuseUnplanned(listed, job)
    if (unplanned) return unplanned
    const noWindow = refuseUnknownWindow(trigger, await readWindows(transaction.named, [trigger]))
    if (noWindow) return noWindow
    const full = await findFull(transaction.named, trigger, oldestRuns)
    if (full.length > 0) return { kind: 'device-over-quota', deviceIds: full }
    const after = await newestEvent(transaction.named, trigger)
    const total = deviceNos.length
    const { runId, jobExecutionId: firstExecutionId } = await takeIds(transaction, 1, total)
    const ids = { runId, firstExecutionId }
    const run = newRun(listed, job, ids, total)
    const { priority = null } = run
    await partitions.reach(firstExecutionId + total - 1, launchedAt)
    for (let start = 0; start < total; start += batchSize) {
      const batch = Array.from(deviceNos.subarray(start, start + batchSize))
      const values = { first: firstExecutionId + start, runId, ownerNo, priority, deviceNos: batch }
      await transaction.named.run(INSERT_EXECUTIONS, values)
    }
    // Taken before its key is claimed, in the same order as by smaller runs.
    await transaction.query(HOLD, [[ownerNo], null])
    const [earlier] = await claimKeys(
      transaction.named,
      [listed],
      [{ trigger: listed, job, run, devices: [] }],
    )
    if (earlier) throw new MadeBefore(earlier)
    transaction.named.sendRows(INSERT_RUN, [toRunRow(run)])
    const lock = 'FOR SHARE OF offer_window'
    const gone = refuseUnknownWindow(trigger, await readWindows(transaction.named, [trigger], lock))
    if (gone) throw new RunRefused(gone)
    const request = requestOf(trigger, run)
    if (request) transaction.named.sendRows(INSERT_REQUEST, [request])
    if (hasValues(values)) transaction.named.sendRows(INSERT_PARAMETERS, [toValuesRow(values, runId)])
    transaction.events.push({ type: 'run.created', ownerNo, runId, at: launchedAt })
    transaction.entries.push(runEntry(run, run.audit))
    if (run.rollout) writeRollout(transaction, run.rollout, launchedAt)
    const visible = { ownerNo, launchedAt, clock: trigger.clock, firstExecutionId, total, after }
    await endOfGoneDevices(transaction.named, { ...visible, actor: actorOf(trigger) })
    return { kind: 'created', run: toLaunchedRun(run, listed, []) }
  }

  async function answer(earlier: EarlierCall): Promise<TriggerOutcome> {
    if (earlier.kind !== 'made-before') return earlier
    try {
      return { kind: 'replayed', run: await getLaunchedRun(db.named, earlier) }
    } catch (error) {
      return { kind: 'unreadable', error }
    }
  }

  return {
    async createLargeRun(trigger) {
      const [earlier] = await findEarlierCalls(db.named, [{ ...trigger, deviceIds: [] }])
      if (earlier) return answer(earlier)
      try {
        return await db.inTransaction((transaction) => record(transaction, trigger))
      } catch (error) {
        if (error instanceof MadeBefore) return answer(error.earlier)
        if (error instanceof RunRefused) return error.refusal
        throw error
      }
    },
  }
}
