// The trigger: one call, one run, one execution per distinct device, all or nothing.

import { hash } from 'node:crypto'
import { ApiError, type TriggerRequest } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { DeviceLink } from './device-link.ts'
import type { Moment } from './execution.ts'
import type { LaunchedRun, Trigger, TriggerOutcome } from './store.ts'

export type TriggerDeps = {
  /** Resolves once the trigger is on disk. */
  recordTrigger: (trigger: Trigger) => Promise<TriggerOutcome>
  moment: () => Moment
  link: Pick<DeviceLink, 'launched'>
  /** Idempotency keys whose first call has not been answered yet, as `ownerNo key`. */
  runningKeys: Set<string>
}

export const idempotencyMs = 24 * 60 * 60 * 1000

export async function triggerJob(
  deps: TriggerDeps,
  caller: Caller,
  request: TriggerRequest,
  idempotencyKey?: string,
): Promise<LaunchedRun> {
  const { at: launchedAt, clock } = deps.moment()
  const trigger: Trigger = {
    ownerNo: caller.ownerNo,
    jobName: request.jobName,
    deviceIds: distinct(request.deviceIds),
    launchedAt,
    clock,
    keyId: caller.keyId,
    idempotency: null,
  }
  if (idempotencyKey === undefined) return runOf(deps, trigger, await deps.recordTrigger(trigger))

  trigger.idempotency = {
    key: idempotencyKey,
    requestHash: hashRequest(request),
    validAfter: launchedAt - idempotencyMs,
  }
  const running = `${caller.ownerNo} ${idempotencyKey}`
  if (deps.runningKeys.has(running)) throw new ApiError('J-502', { retryAfterSeconds: 1 })
  deps.runningKeys.add(running)
  try {
    return runOf(deps, trigger, await deps.recordTrigger(trigger))
  } finally {
    deps.runningKeys.delete(running)
  }
}

function runOf({ link }: TriggerDeps, { ownerNo }: Trigger, outcome: TriggerOutcome): LaunchedRun {
  switch (outcome.kind) {
    case 'created':
      link.launched(ownerNo, outcome.run)
      return outcome.run
    case 'replayed':
      return outcome.run
    case 'unreadable':
      throw outcome.error
    case 'idempotency-key-reused':
      throw new ApiError('J-501')
    case 'unknown-job':
      throw new ApiError('J-301')
    case 'unknown-device':
      throw new ApiError('J-001', { deviceIds: outcome.deviceIds })
  }
}

/** A device named twice gets one execution, at the place where it was named first. */
function distinct(deviceIds: string[]): string[] {
  if (deviceIds.length === 1) return deviceIds
  const once = new Set(deviceIds)
  return once.size === deviceIds.length ? deviceIds : [...once]
}

/** What the call asks for, not how it was spelled: blanks and ignored fields do not count. */
function hashRequest(request: TriggerRequest): Uint8Array {
  return hash('sha256', JSON.stringify([request.jobName, request.deviceIds]), 'buffer')
}
