// The body of a call that creates or plans a run: with a planId no other field is required.

import { ApiError, type NewRun, type RunBody } from '@jobcast/contract'

/** Throws J-500. */
export function requireRun({ planId, jobName, targets, ...options }: RunBody): NewRun {
  if (planId !== undefined) {
    const detail = 'planId starts a plan; with dryRun=true, send the run to plan instead.'
    throw new ApiError('J-500', { field: 'planId', detail })
  }
  if (jobName === undefined) throw missing('jobName')
  if (targets === undefined) throw missing('targets')
  return { jobName, targets, ...options }
}

function missing(field: string): ApiError {
  return new ApiError('J-500', { field, detail: `${field} is required.` })
}

export function requireFewer({ targets: { deviceIds = [] } = {} }: RunBody, maxDevices: number): void {
  if (deviceIds.length <= maxDevices) return
  throw new ApiError('J-500', {
    field: 'targets.deviceIds',
    detail: `targets.deviceIds must have at most ${maxDevices} items; a selector may match more.`,
  })
}
