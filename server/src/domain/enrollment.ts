// Enrolments as their owner sees them. What a device does with one is in enroll-device.ts.

import { ApiError, type NewEnrollment } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { StoredEnrollment } from './ports/enrollments.ts'
import type { Slice, Sliced } from './ports/slices.ts'
import type { Store } from './ports/store.ts'
import { hashSecret, newSecretText } from './secret-text.ts'

export type EnrollmentDeps = {
  store: Pick<Store, 'createEnrollment' | 'listEnrollments' | 'revokeEnrollment'>
  now: () => number
}

const usualUses = 1
const usualSeconds = 24 * 60 * 60

export async function createEnrollment(
  deps: EnrollmentDeps,
  { ownerNo }: Caller,
  request: NewEnrollment,
): Promise<{ enrollment: StoredEnrollment; enrollmentToken: string }> {
  const { id, text } = newSecretText('je')
  const createdAt = deps.now()
  const enrollment = await deps.store.createEnrollment({
    enrollmentId: id,
    ownerNo,
    name: request.name ?? null,
    secretHash: hashSecret(text),
    maxUses: request.maxUses ?? usualUses,
    tags: (request.tags ?? []).toSorted(),
    deviceIdPrefix: request.deviceIdPrefix ?? null,
    expiresAt: createdAt + (request.expiresInSeconds ?? usualSeconds) * 1000,
    createdAt,
  })
  return { enrollment, enrollmentToken: text }
}

export function listEnrollments(
  deps: EnrollmentDeps,
  { ownerNo }: Caller,
  slice: Slice<string>,
): Promise<Sliced<StoredEnrollment, string>> {
  return deps.store.listEnrollments({ ownerNo, slice })
}

/** Revoking a revoked one again is no error: what was asked for holds. Devices that have enrolled stay. */
export async function revokeEnrollment(
  deps: EnrollmentDeps,
  { ownerNo }: Caller,
  enrollmentId: string,
): Promise<void> {
  if (!(await deps.store.revokeEnrollment({ ownerNo, enrollmentId, at: deps.now() })))
    throw new ApiError('J-002')
}
