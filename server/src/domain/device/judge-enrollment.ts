// Whether a device may enroll; called by every store inside its transaction.

import { timingSafeEqual } from 'node:crypto'
import type { StoredEnrollment } from './ports/enrollments.ts'

/** How long a device may repeat its request after a lost response. */
const claimMs = 10 * 60 * 1000

/** The relevant fields of an existing device. */
type Candidate = {
  credentialCreatedAt: number | null
  revokedAt: number | null
  lastSeenAt: number | null
  /** From the enrollment that created its credential. */
  claimHash: Uint8Array | null
}

type EnrollJudgement =
  | 'first-time'
  /** The same device repeats its request: its credential is replaced, and no use is counted. */
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
  // Checked before the device: a used-up token must not reveal which devices exist.
  if (enrollment.used >= enrollment.maxUses) return 'not-open'
  return device && isTaken(device) ? 'taken' : 'first-time'
}

export function isOpen({ revokedAt, expiresAt }: StoredEnrollment, at: number): boolean {
  return revokedAt === null && at < expiresAt
}

/** A device seen without a token uses a certificate. A revoked credential can only be renewed by the owner. */
function isTaken({ credentialCreatedAt, revokedAt, lastSeenAt }: Candidate): boolean {
  return credentialCreatedAt !== null || revokedAt !== null || lastSeenAt !== null
}

function isSameClaim(device: Candidate, claimHash: Uint8Array | null, at: number): boolean {
  if (claimHash === null || device.claimHash === null || device.credentialCreatedAt === null) return false
  return at < device.credentialCreatedAt + claimMs && timingSafeEqual(device.claimHash, claimHash)
}
