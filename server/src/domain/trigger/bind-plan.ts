// What a plan binds a run to: its body, job, window, devices and their order. A plan is stored, so that its id is enough
// to start it on any node; what it was built from is then compared with what it would be built from now.

import { hash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ApiError, type NewRun, parseInstant } from '@jobcast/contract'
import type { SteadyInstant } from '../common/instants.ts'
import type { ArrangedDevices } from '../rollout/run-release.ts'
import { digestOf } from '../selector/select-devices.ts'
import type { StoredWindow } from '../window/ports/windows.ts'
import type { BoundTo, StoredPlan } from './ports/plans.ts'
import { openValues, type ValuesDeps } from './run-values.ts'

/** How long a plan can be started. */
export const planMs = 10 * 60 * 1000

/** Limits per owner: enough for ten minutes of planning, also in the console, which plans after each change. */
export const keptPlans = { most: 500, mostBytes: 32 * 1024 * 1024 }

export function newPlanId(): string {
  return randomBytes(16).toString('base64url')
}

export function digestOfWindow(window: StoredWindow | undefined): string | null {
  if (window === undefined) return null
  const { windowName, cron, durationMinutes, timeZone, cutoffMinutes, except } = window
  return digestOf([windowName, cron, String(durationMinutes), timeZone, String(cutoffMinutes), ...except])
}

export function digestOfDevices({ deviceIds, deviceNos, sizes }: ArrangedDevices): string {
  const devices =
    deviceIds === undefined
      ? hash('sha256', new Uint8Array(deviceNos.buffer, deviceNos.byteOffset, deviceNos.byteLength))
      : digestOf(deviceIds)
  return digestOf([devices, ...sizes.map(String)])
}

export function totalOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0)
}

const planAgain = 'Plan it again with dryRun=true, and start the new planId.'

/** `reason`: the rest of a sentence. */
function planError(reason: string, advice = planAgain, field?: string): ApiError {
  const detail = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}. ${advice}`
  return new ApiError('J-505', { suffix: reason, detail, ...(field !== undefined && { field }) })
}

export function unknownPlan(): ApiError {
  return planError('there is no such plan, or it is older than 10 minutes')
}

export function foreignPlan(): ApiError {
  return planError(
    'it was created by somebody else',
    'Plan it yourself, show the plan, and start the new planId.',
  )
}

export function requireYoung({ createdAt }: Pick<StoredPlan, 'createdAt'>, now: SteadyInstant): void {
  if (now - createdAt >= planMs) throw planError('it is older than 10 minutes')
}

/** Refuses fields sent along with the id of a purged plan: there is nothing to compare them with. */
export function requireAlone(beside: Partial<NewRun>, runId: number): void {
  const [field] = Object.keys(beside)
  if (field === undefined) return
  throw planError(`run ${runId} was started from it`, 'Send the planId alone to get that run.', field)
}

/** The planned request with its parameters. Throws J-505 if they can no longer be decrypted. */
export function requestOfPlan(
  { secretBox }: Pick<ValuesDeps, 'secretBox'>,
  ownerNo: number,
  { request, values }: StoredPlan,
): NewRun {
  if (values === null) return request
  try {
    return { ...request, parameters: openValues(secretBox, ownerNo, values) }
  } catch {
    throw planError('the key that encrypted its secrets was replaced')
  }
}

/** Fields sent along with the planId must equal the planned ones. */
export function requireSame(planned: NewRun, beside: Partial<NewRun>): void {
  const before: Readonly<Record<string, unknown>> = planned
  for (const [field, value] of Object.entries(beside)) {
    if (value === undefined || isDeepStrictEqual(before[field], value)) continue
    const reason = before[field] === undefined ? `it has no ${field}` : `its ${field} is another`
    const advice = `Send the planId alone to start what was planned, or plan again with this ${field}.`
    throw planError(reason, advice, field)
  }
}

export function requireStartAhead({ startAt }: Pick<NewRun, 'startAt'>, now: number): void {
  if (startAt !== undefined && parseInstant(startAt) <= now)
    throw planError(`its startAt, ${startAt}, has passed`)
}

/** Throws J-505, naming what has changed since. */
export function requireBound(planned: BoundTo, now: BoundTo, jobName: string): void {
  if (planned.currentNo !== now.currentNo || planned.versionNo !== now.versionNo)
    throw planError(`the job ${jobName} has changed since`)
  if (planned.window !== now.window) throw planError('the window of the run has changed since')
  if (planned.devices === now.devices) return
  throw planError(
    planned.total === now.total
      ? 'other devices match now, or in another order or other waves'
      : `it has ${planned.total} devices, and ${now.total} match now`,
  )
}

/** Errors for resources that the plan names and that no longer exist. */
const goneCodes: readonly string[] = ['J-001', 'J-301', 'J-309', 'J-311', 'J-313', 'J-504']

/** Turns such an error into a refusal of the plan, unless the plan was empty anyway. */
export function asPlanError(error: unknown, { total }: BoundTo): unknown {
  if (!(error instanceof ApiError) || !goneCodes.includes(error.code) || total === 0) return error
  const { detail = error.message, deviceIds } = error.details
  const named = deviceIds?.length ? ` (${deviceIds.slice(0, 20).join(', ')})` : ''
  return planError(`something that it names no longer exists: ${detail.replace(/\.$/, '')}${named}`)
}
