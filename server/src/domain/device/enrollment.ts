// The owner's operations on enrollments. The device's side is in enroll-device.ts.

import { ApiError, type NewEnrollment } from '@jobcast/contract'
import { type Caller, makerOf } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { hashSecret, newSecretText } from '../access/secret-text.ts'
import { type TellAccessDeps, tellAccess } from '../access/tell-access.ts'
import { type QuotaDeps, withinQuota } from '../access/within-quota.ts'
import { originOf } from '../audit/audit.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredEnrollment } from './ports/enrollments.ts'

export type EnrollmentDeps = TellAccessDeps &
  QuotaDeps & {
    store: Pick<
      Store,
      'createEnrollment' | 'listEnrollments' | 'revokeEnrollment' | 'findApiKey' | 'findEnrollment'
    >
    now: () => number
  }

const defaultUses = 1
const defaultSeconds = 24 * 60 * 60

export async function createEnrollment(
  deps: EnrollmentDeps,
  caller: Caller,
  request: NewEnrollment,
): Promise<{ enrollment: StoredEnrollment; enrollmentToken: string }> {
  const { id, text } = newSecretText('je')
  const createdAt = deps.now()
  const stored = {
    enrollmentId: id,
    ownerNo: caller.ownerNo,
    name: request.name ?? null,
    secretHash: hashSecret(text),
    maxUses: request.maxUses ?? defaultUses,
    tags: (request.tags ?? []).toSorted(),
    deviceIdPrefix: request.deviceIdPrefix ?? null,
    expiresAt: createdAt + (request.expiresInSeconds ?? defaultSeconds) * 1000,
    createdAt,
    ...makerOf(caller),
    ...originOf(caller),
  }
  const enrollment = await withinQuota(deps, 'enrollments', caller.ownerNo, () =>
    deps.store.createEnrollment(stored),
  )
  tellAccess(deps, 'enrollment.created', caller, { enrollmentId: id })
  return { enrollment, enrollmentToken: text }
}

export function listEnrollments(
  deps: EnrollmentDeps,
  { ownerNo }: Caller,
  slice: Slice<string>,
): Promise<Sliced<StoredEnrollment, string>> {
  return deps.store.listEnrollments({ ownerNo, slice })
}

/** Idempotent. Devices that have enrolled keep their credentials. */
export async function revokeEnrollment(
  deps: EnrollmentDeps,
  caller: Caller,
  enrollmentId: string,
): Promise<void> {
  const { ownerNo } = caller
  const by = { principal: principalOf(caller), at: deps.now(), ...originOf(caller) }
  const revocation = { ownerNo, enrollmentId, ...by }
  const outcome = await deps.store.revokeEnrollment(revocation)
  if (outcome === 'unknown') throw new ApiError('J-002')
  if (outcome === 'revoked') tellAccess(deps, 'enrollment.revoked', caller, { enrollmentId })
}
