// Whether a device may enrol, asked by every store inside its transaction.

import { timingSafeEqual } from 'node:crypto'
import type { StoredEnrollment } from './ports/enrollments.ts'

/** How long the same device may ask again for an answer that got lost. */
const claimMs = 10 * 60 * 1000

/** Of a device that is there. */
export type Candidate = {
  credentialCreatedAt: number | null
  revokedAt: number | null
  lastSeenAt: number | null
  /** Of the enrolment that made its credential. */
  claimHash: Uint8Array | null
}

export type EnrollJudgement =
  | 'first-time'
  /** The same device as before: its credential is replaced, and no other use is counted. */
  | 'again'
  | 'not-open'
  | 'taken'

export function judgeEnrollment(
  enrollment: StoredEnrollment,
  device: Candidate | undefined,
  { at, claimHash }: { at: number; claimHash: Uint8Array | null },
): EnrollJudgement {
  if (!isOpen(enrollment, at)) return 'not-open'
  if (device && isSameClaim(device, claimHash, at)) return 'again'
  // Before the device is looked at: a token that is used up must not tell which devices there are.
  if (enrollment.used >= enrollment.maxUses) return 'not-open'
  return device && isTaken(device) ? 'taken' : 'first-time'
}

export function isOpen({ revokedAt, expiresAt }: StoredEnrollment, at: number): boolean {
  return revokedAt === null && at < expiresAt
}

/** Whoever was seen without a token has a certificate. And what an owner has revoked stays so until the owner says else. */
function isTaken({ credentialCreatedAt, revokedAt, lastSeenAt }: Candidate): boolean {
  return credentialCreatedAt !== null || revokedAt !== null || lastSeenAt !== null
}

function isSameClaim(device: Candidate, claimHash: Uint8Array | null, at: number): boolean {
  if (claimHash === null || device.claimHash === null || device.credentialCreatedAt === null) return false
  return at < device.credentialCreatedAt + claimMs && timingSafeEqual(device.claimHash, claimHash)
}
