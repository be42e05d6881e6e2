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

/** A device that shows the token of an enrollment and asks for a token of its own. */
export type Enrolling = {
  enrollmentId: string
  deviceId: string
  /** Of the device if it is made; one that is there keeps its name and its tags. */
  deviceName: string
  token: DeviceToken
  /** Kept with the token, so that whoever lost the answer can ask again. */
  claimHash: Uint8Array | null
}

export type EnrollOutcome =
  | { kind: 'enrolled' }
  /** The enrollment is unknown, expired, revoked or used up. */
  | { kind: 'not-open' }
  /** The device is somebody's already. */
  | { kind: 'taken' }

export type EnrollmentStore = {
  createEnrollment(enrollment: NewStoredEnrollment): Promise<StoredEnrollment>
  findEnrollment(enrollment: { enrollmentId: string }): Promise<StoredEnrollment | undefined>
  /** Undefined: there is no such device. `claimHash`: of the enrollment that made its credential; null: somebody else did. */
  findClaim(device: DeviceKey): Promise<{ hasCredential: boolean; claimHash: Uint8Array | null } | undefined>
  listEnrollments(list: OwnerList<string>): Promise<Sliced<StoredEnrollment, string>>
  revokeEnrollment(revocation: {
    ownerNo: number
    enrollmentId: string
    principal: string
    at: number
  }): Promise<'revoked' | 'revoked-before' | 'unknown'>
  /** Judges (judge-enrollment.ts), counts the use, makes the device if there is none and sets its token, as one. */
  enrollDevice(enrolling: Enrolling): Promise<EnrollOutcome>
}
