// A new run that takes devices back to an earlier version of the job. The run that is rolled back is stopped first, so
// that no further device gets the bad version.

import { ApiError, type RollbackRequest } from '@jobcast/contract'
import { requireScope } from '../access/access.ts'
import { actorOf, type Caller } from '../access/caller.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import { notFound } from '../common/not-found.ts'
import { cancelAndNotify } from '../execution/cancel-execution.ts'
import { isFinished } from '../execution/read-execution.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { lineageOfCaller } from '../rollout/hands.ts'
import { requireRollout } from '../rollout/rollout-selectors.ts'
import { markStopped } from '../rollout/stop-rollout.ts'
import { readSelector } from '../selector/selector.ts'
import { type CancelRunDeps, cancelRest } from './cancel-run.ts'
import {
  type Again,
  type CallDetails,
  findVersion,
  launchAgain,
  type Made,
  readMade,
} from './launch-again.ts'
import type { StoredRun } from './ports/runs.ts'
import type { RetryDeps } from './retry-run.ts'
import { findEarlierRun } from './trigger-job.ts'

/** Few enough to leave connections to the database for other callers. */
const cancelsAtOnce = 8

export type RollbackDeps = RetryDeps & CancelRunDeps

export async function rollBackRun(
  deps: RollbackDeps,
  caller: Caller,
  runId: number,
  request: RollbackRequest,
  details: CallDetails,
): Promise<Made> {
  const { ownerNo } = caller
  const { toVersion, ...options } = request
  const isPlain = Object.keys(options).length === 0
  const asked = ['rollback', runId, toVersion ?? null, ...(isPlain ? [] : [options])]
  const earlier = await findEarlierRun(deps, caller, asked, details.idempotencyKey)
  if (earlier) return readMade(deps, ownerNo, earlier)
  const run = await deps.store.getRun({ ownerNo, runId })
  if (run === undefined) throw notFound('J-304', runId)
  return onceAtATime(deps, ownerNo, runId, async () => {
    if (!request.again) await requireFirst(deps, ownerNo, runId)
    await requireMayStop(deps, caller, run)
    const version = await findVersion(deps, caller, run, toVersion ?? run.version - 1)
    const plan = await planOf(deps, caller, run, version, request)
    // Checked before stopping, so that a request that cannot succeed stops nothing.
    await listDevices(deps, caller, runId, request)
    await stopRun(deps, caller, run, request)
    const deviceIds = await listDevices(deps, caller, runId, request)
    const { where = null, note = null } = request
    const once = request.again ? {} : { rollbackOnce: runId }
    const made = {
      where,
      matched: where === null ? null : deviceIds.length,
      note,
      rollbackOf: runId,
      ...once,
    }
    const again = { run, asked, deviceIds, retryOf: null, request: made, version, ...(plan && { plan }) }
    return launchAgain(deps, caller, again, details).catch(async (error: unknown) => {
      // Another node was faster: the store accepts only one first rollback.
      if (!request.again && !(error instanceof ApiError)) await requireFirst(deps, ownerNo, runId)
      throw error
    })
  })
}

/** Only one rollback of a run at a time on this node. */
async function onceAtATime<T>(
  { runningKeys }: RollbackDeps,
  ownerNo: number,
  runId: number,
  work: () => Promise<T>,
): Promise<T> {
  // Cannot collide with idempotency keys, which contain no space.
  const name = `${ownerNo} rollback of ${runId}`
  if (runningKeys.has(name)) {
    const detail = `Run ${runId} is being rolled back by another request.`
    throw new ApiError('J-502', { detail, retryAfterSeconds: 1 })
  }
  runningKeys.add(name)
  try {
    return await work()
  } finally {
    runningKeys.delete(name)
  }
}

async function requireFirst({ store }: RollbackDeps, ownerNo: number, runId: number): Promise<void> {
  const first = await store.findRollback({ ownerNo, runId })
  if (first === undefined) return
  const detail = `Run ${first} has rolled back run ${runId}. Send "again": true to roll it back once more.`
  throw new ApiError('J-317', { suffix: `run ${first}`, detail })
}

/** The run's creator may stop it; anyone else needs MANAGE, as for cancel and pause. */
async function requireMayStop(deps: RollbackDeps, caller: Caller, run: StoredRun): Promise<void> {
  if (isFinished(run) || caller.scopes.includes('MANAGE')) return
  const { keyId } = run
  const maker = keyId === null ? undefined : await lineageOf(deps.store, principalOf({ keyId }))
  if (maker !== (await lineageOfCaller(deps, caller))) requireScope(caller, 'MANAGE')
}

/** All at once by default: a rollback is urgent. */
async function planOf(
  deps: RollbackDeps,
  caller: Caller,
  { runId, jobName, version: bad }: StoredRun,
  to: StoredJobVersion | undefined,
  { rollout, deviceIds, where }: RollbackRequest,
): Promise<Again['plan']> {
  if (rollout) await requireRollout(deps, caller, rollout)
  if (deviceIds && where !== undefined) {
    throw new ApiError('J-500', { field: 'where', detail: 'Use either deviceIds or where, not both.' })
  }
  if (where !== undefined) await readSelector(deps, caller, where, 'where')
  const job = await deps.store.getJob({ ownerNo: caller.ownerNo, jobName })
  if (rollout === undefined && ![job?.rollout, job?.approval, to?.rollout].some(Boolean)) return undefined
  // The previous version was approved when it was released; any other version needs an approval.
  const isExempt = to?.version === bad - 1 && (await deps.store.wasReleased({ ...to, before: runId }))
  const approval = isExempt ? false : (job?.approval ?? false)
  const fitsAny = rollout === undefined
  return { rollout: rollout ?? {}, approval, fitsAny, ...(isExempt && { isExempt }) }
}

/** All devices that were released, however their executions ended. Throws J-314 if there is none. */
async function listDevices(
  deps: RollbackDeps,
  { ownerNo }: Caller,
  runId: number,
  request: Pick<RollbackRequest, 'deviceIds' | 'where'>,
): Promise<string[]> {
  const released = (await deps.store.listEndedDevices({ ownerNo, runId, ends: 'released' })) ?? []
  const isWanted = await wantedBy(deps, ownerNo, released, request)
  const deviceIds = released.filter(isWanted)
  if (deviceIds.length === 0) throw new ApiError('J-314')
  return deviceIds
}

async function wantedBy(
  { matchDevices }: RollbackDeps,
  ownerNo: number,
  released: string[],
  { deviceIds, where }: Pick<RollbackRequest, 'deviceIds' | 'where'>,
): Promise<(deviceId: string) => boolean> {
  if (where !== undefined) {
    const matching = await matchDevices(ownerNo, where, released)
    return (deviceId) => matching.has(deviceId)
  }
  const named = deviceIds && new Set(deviceIds)
  return (deviceId) => named?.has(deviceId) ?? true
}

/**
 * One write ends the release of further executions. Then those held back are canceled, and executions in progress on the
 * affected devices are asked to stop; the new executions queue behind them. A run without a rollout has nothing that holds it
 * back, so the new run is made only when nothing of it is left to start, however long that takes.
 */
async function stopRun(
  deps: RollbackDeps,
  caller: Caller,
  { runId }: StoredRun,
  request: Pick<RollbackRequest, 'deviceIds' | 'where'>,
): Promise<void> {
  await markStopped(deps, caller, runId, 'the run is rolled back')
  const isWhole = request.deviceIds === undefined && request.where === undefined
  if (isWhole) await cancelRest(deps, caller, runId, { event: 'cancel', from: undefined })
  else await stopPart(deps, caller, runId, request)
  // A stopping node does not finish this: the call must be repeated on another node.
  if (deps.stopping.aborted) throw new ApiError('J-910', { retryAfterSeconds: 1 })
}

async function stopPart(
  deps: RollbackDeps,
  caller: Caller,
  runId: number,
  request: Pick<RollbackRequest, 'deviceIds' | 'where'>,
): Promise<void> {
  const { ownerNo } = caller
  const rollout = (await deps.store.getRollout({ ownerNo, runId }))?.rollout
  if (rollout && rollout.status.released < rollout.total) {
    const from = rollout.firstExecutionId + rollout.status.released
    await cancelRest(deps, caller, runId, { event: 'rollout-stopped', from })
  }
  const filter = { runId, execStates: ['PENDING', 'IN_PROGRESS'] } as const
  let after: number | undefined
  do {
    const slice = { after, limit: 500 }
    const { items, next } = await deps.store.listExecutions({ ownerNo, filter, slice })
    const isWanted = await wantedBy(
      deps,
      ownerNo,
      items.map(({ deviceId }) => deviceId),
      request,
    )
    const wanted = items.filter(({ deviceId }) => isWanted(deviceId))
    for (let at = 0; at < wanted.length; at += cancelsAtOnce) {
      const some = wanted.slice(at, at + cancelsAtOnce)
      await Promise.all(some.map(({ jobExecutionId }) => cancelOne(deps, caller, jobExecutionId)))
    }
    after = next
  } while (after !== undefined && !deps.stopping.aborted)
}

/** Does nothing if the execution has ended meanwhile. */
async function cancelOne(deps: RollbackDeps, caller: Caller, jobExecutionId: number): Promise<void> {
  const { ownerNo } = caller
  await cancelAndNotify(deps, { ownerNo, jobExecutionId, event: 'cancel', actor: actorOf(caller) })
}
