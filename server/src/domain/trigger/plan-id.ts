// The name of a plan. It says all that it stands for, so that any node can check it and none has to keep it.

import { ApiError } from '@jobcast/contract'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { digestOf } from '../selector/select-devices.ts'

type PlannedJob = Pick<StoredJobVersion, 'jobName' | 'versionNo'>

const planValidMs = 10 * 60 * 1000

/** `devices`: their digest. */
export function newPlanId(now: number, job: PlannedJob, devices: string): string {
  return toPlanId(now + planValidMs, job, devices)
}

function toPlanId(validUntil: number, { jobName, versionNo }: PlannedJob, devices: string): string {
  return `${validUntil.toString(36)}.${digestOf([jobName, String(versionNo), devices])}`
}

/** Throws J-505. */
export function checkPlanId(planId: string | undefined, now: number, job: PlannedJob, devices: string): void {
  if (planId === undefined) return
  const validUntil = Number.parseInt(planId.split('.', 1)[0] ?? '', 36)
  if (!(validUntil >= now && validUntil <= now + planValidMs)) {
    throw new ApiError('J-505', {
      detail: 'The plan is older than 10 minutes, or the planId is unknown.',
    })
  }
  if (toPlanId(validUntil, job, devices) !== planId) {
    throw new ApiError('J-505', { detail: 'The selected devices or the job have changed since the dry run.' })
  }
}
