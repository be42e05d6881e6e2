// Retries a run: creates a new run for those of its devices whose execution was unsuccessful.

import { ApiError, type RetryRequest } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { StoredRun } from './ports/runs.ts'
import type { Store } from './ports/store.ts'
import { findEarlierRun, launchRun, type TriggerDeps } from './trigger-job.ts'

export type RetryDeps = TriggerDeps & { store: Pick<Store, 'getRun' | 'listUnsuccessful' | 'getWindow'> }

/** Unfinished executions and deleted devices are skipped. The new run uses the current version of the job. */
export async function retryRun(
  deps: RetryDeps,
  caller: Caller,
  runId: number,
  request: RetryRequest,
  idempotencyKey?: string,
  traceParent?: string,
): Promise<{ run: StoredRun; isReplayed: boolean }> {
  const { ownerNo } = caller
  const unsuccessful = await deps.store.listUnsuccessful({ ownerNo, runId })
  const wanted = request.deviceIds && new Set(request.deviceIds)
  const deviceIds = unsuccessful?.deviceIds.filter((deviceId) => wanted?.has(deviceId) ?? true) ?? []
  const asked = ['retry', runId, request.deviceIds ?? null]
  const launched =
    unsuccessful === undefined || deviceIds.length === 0
      ? await findEarlierRun(deps, caller, asked, idempotencyKey)
      : await launchRun(
          deps,
          caller,
          {
            jobName: unsuccessful.jobName,
            deviceIds,
            retryOf: runId,
            asked,
            window: await windowOf(deps, caller, runId),
          },
          idempotencyKey,
          traceParent,
        )
  if (launched === undefined) throw new ApiError(unsuccessful === undefined ? 'J-304' : 'J-305')
  const made = await deps.store.getRun({ ownerNo, runId: launched.runId })
  if (made === undefined) throw new Error(`run ${launched.runId} was made and cannot be read`)
  return { run: made, isReplayed: launched.isReplayed ?? false }
}

/** That of the run it retries, if it is still there; undefined: as the job says. */
async function windowOf(
  { store }: RetryDeps,
  { ownerNo }: Caller,
  runId: number,
): Promise<string | undefined> {
  const windowName = (await store.getRun({ ownerNo, runId }))?.window ?? undefined
  if (windowName === undefined) return undefined
  return (await store.getWindow({ ownerNo, windowName })) && windowName
}
