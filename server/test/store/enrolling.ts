// An enrollment, and a device that uses it.

import { randomUUID } from 'node:crypto'
import type { Enrolling, NewStoredEnrollment } from '../../src/domain/device/ports/enrollments.ts'
import { startedAt } from './store-under-test.ts'

export function newEnrollment(ownerNo: number, more: Partial<NewStoredEnrollment> = {}): NewStoredEnrollment {
  return {
    enrollmentId: randomUUID(),
    ownerNo,
    name: 'kiosks',
    secretHash: new Uint8Array(32).fill(7),
    maxUses: 1,
    tags: ['a', 'b'],
    deviceIdPrefix: null,
    expiresAt: startedAt + 60 * 60_000,
    createdAt: startedAt,
    createdBy: 'key:k1',
    createdBySession: null,
    ...more,
  }
}

/** A token of its own each time. `claim` stands for one that was hashed. */
export function enrolling(
  { enrollmentId }: { enrollmentId: string },
  deviceId: string,
  { at = startedAt, claim }: { at?: number; claim?: number } = {},
): Enrolling {
  const token = {
    tokenId: randomUUID(),
    tokenHash: new Uint8Array(32).fill(9),
    at,
    createdBy: `enrollment:${enrollmentId}`,
  }
  const claimHash = claim === undefined ? null : new Uint8Array(32).fill(claim)
  return { enrollmentId, deviceId, deviceName: `name of ${deviceId}`, token, claimHash }
}
