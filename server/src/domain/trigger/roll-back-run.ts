// A new run that takes devices back to an earlier version of the job. The run that it takes back is stopped first, so
// that nobody else gets what is wrong.

import { ApiError, type RollbackRequest } from '@jobcast/contract'
import { requireScope } from '../access/access.ts'
import { actorOf, type Caller } from '../access/caller.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import { notFound } from '../common/not-found.ts'
import { notifyTaken } from '../execution/notify-moved.ts'
import { isFinished } from '../execution/read-execution.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { lineageOfCaller } from '../rollout/hands.ts'
import { requireRollout } from '../rollout/rollout-selectors.ts'
import { markStopped } from '../rollout/stop-rollout.ts'
import { readSelector } from '../selector/selector.ts'
import { type CancelRunDeps, cancelRest, cancelWithin } from './cancel-run.ts'
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
    // Whoever asks for what cannot be done has stopped nothing.
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
      // Another node was faster: the store takes only one that is the first.
      if (!request.again && !(error instanceof ApiError)) await requireFirst(deps, ownerNo, runId)
      throw error
    })
  })
}

/** Of several calls at this node the first is the first. */
async function onceAtATime<T>(
  { runningKeys }: RollbackDeps,
  ownerNo: number,
  runId: number,
  work: () => Promise<T>,
): Promise<T> {
  // No key of a caller has a space.
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
  const detail = `Run ${first} has rolled back run ${runId}. Give "again": true to roll it back once more.`
  throw new ApiError('J-317', { suffix: `run ${first}`, detail })
}

/** Whoever started it may stop it; what others started is stopped with MANAGE, as by a cancel or a pause. */
async function requireMayStop(deps: RollbackDeps, caller: Caller, run: StoredRun): Promise<void> {
  if (isFinished(run) || caller.scopes.includes('MANAGE')) return
  const { keyId } = run
  const maker = keyId === null ? undefined : await lineageOf(deps.store, principalOf({ keyId }))
  if (maker !== (await lineageOfCaller(deps, caller))) requireScope(caller, 'MANAGE')
}

/** All at once unless it is asked for otherwise: who rolls back is in a hurry. */
async function planOf(
  deps: RollbackDeps,
  caller: Caller,
  { runId, jobName, version: bad }: StoredRun,
  to: StoredJobVersion | undefined,
  { rollout, deviceIds, where }: RollbackRequest,
): Promise<Again['plan']> {
  if (rollout) await requireRollout(deps, caller, rollout)
  if (deviceIds && where !== undefined) {
    throw new ApiError('J-500', { field: 'where', detail: 'Either deviceIds or where can be given.' })
  }
  if (where !== undefined) await readSelector(deps, caller, where, 'where')
  const job = await deps.store.getJob({ ownerNo: caller.ownerNo, jobName })
  if (rollout === undefined && ![job?.rollout, job?.approval, to?.rollout].some(Boolean)) return undefined
  // What devices had before was approved then; every other version is a change like any other.
  const isExempt = to?.version === bad - 1 && (await deps.store.wasReleased({ ...to, before: runId }))
  const approval = isExempt ? false : (job?.approval ?? false)
  const fitsAny = rollout === undefined
  return { rollout: rollout ?? {}, approval, fitsAny, ...(isExempt && { isExempt }) }
}

/** All that may have got it: whatever was released, however it ended. Throws J-314 if there is none. */
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
 * From one write on nothing more of it is released, offered or started that was held back; then that is canceled, and
 * what is under way on the devices that are taken back is asked to stop. Their new executions wait behind it.
 */
async function stopRun(
  deps: RollbackDeps,
  caller: Caller,
  { runId }: StoredRun,
  request: Pick<RollbackRequest, 'deviceIds' | 'where'>,
): Promise<void> {
  await markStopped(deps, caller, runId, 'the run is rolled back')
  const isWhole = request.deviceIds === undefined && request.where === undefined
  const stop = isWhole
    ? () => cancelRest(deps, caller, runId, { event: 'cancel', from: undefined })
    : () => stopPart(deps, caller, runId, request)
  await cancelWithin(deps, `${runId} rollback`, stop)
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
    for (const { jobExecutionId, deviceId } of items) {
      if (isWanted(deviceId)) await cancelOne(deps, caller, jobExecutionId)
    }
    after = next
  } while (after !== undefined && !deps.stopping.aborted)
}

/** Unless it has ended meanwhile. */
async function cancelOne(deps: RollbackDeps, caller: Caller, jobExecutionId: number): Promise<void> {
  const { ownerNo } = caller
  const move = { ownerNo, jobExecutionId, event: 'cancel', actor: actorOf(caller) } as const
  const outcome = await deps.store.moveExecution({ ...move, moment: deps.moment() })
  if (outcome.kind !== 'moved') return
  const { deviceId, runId, execState } = outcome.execution
  notifyTaken(deps, [{ ownerNo, deviceId, jobExecutionId, runId, from: outcome.from, execState }])
}
