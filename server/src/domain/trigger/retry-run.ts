// A new run on those devices of an earlier one whose execution was unsuccessful.

import { ApiError, type RetryRequest, type Rollout } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import { approvalUnder } from '../rollout/approval.ts'
import { requireRollout } from '../rollout/rollout-selectors.ts'
import {
  type Again,
  type AgainDeps,
  type CallDetails,
  findVersion,
  launchAgain,
  type Made,
  readMade,
} from './launch-again.ts'
import { findEarlierRun } from './trigger-job.ts'

export type RetryDeps = AgainDeps & { store: Store }

/** Unfinished executions and deleted devices are skipped. */
export async function retryRun(
  deps: RetryDeps,
  caller: Caller,
  runId: number,
  { deviceIds: given, version: which = 'SAME', rollout }: RetryRequest,
  details: CallDetails,
): Promise<Made> {
  const { ownerNo } = caller
  const options = [...(which === 'SAME' ? [] : [which]), ...(rollout ? [{ rollout }] : [])]
  const asked = ['retry', runId, given ?? null, ...options]
  const run = await deps.store.getRun({ ownerNo, runId })
  const ended = await deps.store.listEndedDevices({ ownerNo, runId, ends: 'unsuccessful' })
  const earlier = await findEarlierRun(deps, caller, asked, details.idempotencyKey)
  if (earlier) return readMade(deps, ownerNo, earlier)
  if (run === undefined) throw notFound('J-304', runId)
  const wanted = given && new Set(given)
  const deviceIds = ended?.filter((deviceId) => wanted?.has(deviceId) ?? true) ?? []
  if (deviceIds.length === 0) throw new ApiError('J-305')
  const version = await findVersion(deps, caller, run, which === 'SAME' ? run.version : undefined)
  const plan = await planOf(deps, caller, runId, rollout)
  const again = { run, asked, deviceIds, retryOf: runId, version, ...(plan && { plan }) }
  return launchAgain(deps, caller, again, details)
}

/** The last rollout rules of the run; undefined: it had none, so its job decides. */
async function planOf(
  deps: RetryDeps,
  caller: Caller,
  runId: number,
  given: Rollout | undefined,
): Promise<Again['plan']> {
  if (given) await requireRollout(deps, caller, given)
  const own = (await deps.store.getRollout({ ownerNo: caller.ownerNo, runId }))?.rollout.plan
  const rollout = given ?? own?.rollout
  // The rules were made for more devices, so they must fit any of them.
  if (rollout === undefined) return undefined
  const approval = own ? approvalUnder(own, { rollout }) : false
  return { rollout, approval, fitsAny: given === undefined }
}
