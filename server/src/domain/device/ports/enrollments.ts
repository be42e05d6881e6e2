import type { Maker } from '../../access/ports/makers.ts'
import type { OwnerList, Sliced } from '../../common/ports/slices.ts'
import type { DeviceKey } from '../device-key.ts'
import type { DeviceToken } from './devices.ts'

export type StoredEnrollment = Maker & {
  enrollmentId: string
  ownerNo: number
  name: string | null
  secretHash: Uint8Array
  maxUses: number
  used: number
  tags: string[]
  deviceIdPrefix: string | null
  expiresAt: number
  revokedAt: number | null
  createdAt: number
}

export type NewStoredEnrollment = Omit<StoredEnrollment, 'used' | 'revokedAt'>

/** A device that presents an enrollment token and requests a token of its own. */
export type Enrolling = {
  enrollmentId: string
  deviceId: string
  /** For a new device; an existing one keeps its name and tags. */
  deviceName: string
  token: DeviceToken
  /** Stored with the token, so that a device that lost the response can repeat the request. */
  claimHash: Uint8Array | null
}

export type EnrollOutcome =
  | { kind: 'enrolled' }
  /** The enrollment is unknown, expired, revoked or used up. */
  | { kind: 'not-open' }
  /** The device already has a credential. */
  | { kind: 'taken' }

export type EnrollmentStore = {
  createEnrollment(enrollment: NewStoredEnrollment): Promise<StoredEnrollment>
  findEnrollment(enrollment: { enrollmentId: string }): Promise<StoredEnrollment | undefined>
  /** Undefined: no such device. `claimHash`: from the enrollment that created its credential; null: not created by one. */
  findClaim(device: DeviceKey): Promise<{ hasCredential: boolean; claimHash: Uint8Array | null } | undefined>
  listEnrollments(list: OwnerList<string>): Promise<Sliced<StoredEnrollment, string>>
  revokeEnrollment(revocation: {
    ownerNo: number
    enrollmentId: string
    principal: string
    at: number
  }): Promise<'revoked' | 'revoked-before' | 'unknown'>
  /** Atomically judges (judge-enrollment.ts), counts the use, creates the device if it does not exist and sets its token. */
  enrollDevice(enrolling: Enrolling): Promise<EnrollOutcome>
}
