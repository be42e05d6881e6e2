import { judgeEnrollment } from '../../domain/device/judge-enrollment.ts'
import type { DevicePut } from '../../domain/device/ports/devices.ts'
import type { Enrolling, EnrollOutcome, StoredEnrollment } from '../../domain/device/ports/enrollments.ts'
import { inBoth, type Queries, sliced, type Writes } from '../queries.ts'
import { select } from '../schema/column.ts'
import { device, enrollment } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { setDeviceToken } from './devices.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const ENROLLMENT = select(enrollment.fields)
const FIND = `SELECT ${ENROLLMENT} FROM enrollment WHERE enrollment_id = :enrollmentId` as const
const LOCK = inBoth(({ lock }) => `${FIND} ${lock}`)
const LIST = `
  SELECT ${ENROLLMENT} FROM enrollment WHERE owner_no = :ownerNo AND enrollment_id > :after
  ORDER BY enrollment_id LIMIT :limit` as const
const INSERT = `
  INSERT INTO enrollment (enrollment_id, owner_no, name, secret_hash, max_uses, tags, device_id_prefix, expires_at,
    created_at, created_by, created_by_session)
  VALUES (:enrollmentId, :ownerNo, :name, :secretHash, :maxUses, :tags, :deviceIdPrefix, :expiresAt, :createdAt,
    :createdBy, :createdBySession)`
const REVOKE = 'UPDATE enrollment SET revoked_at = :at WHERE enrollment_id = :enrollmentId'
const USE = 'UPDATE enrollment SET used = used + 1 WHERE enrollment_id = :enrollmentId'

const { tokenCreatedAt, revokedAt, lastSeenAt, claimHash } = device.fields
const CANDIDATE = select({ credentialCreatedAt: tokenCreatedAt, revokedAt, lastSeenAt, claimHash })
const FIND_CANDIDATE = `
  SELECT ${CANDIDATE} FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL` as const
const LOCK_CANDIDATE = inBoth(({ lock }) => `${FIND_CANDIDATE} ${lock}`)

export const enrollmentReads: ReadSteps<'findEnrollment' | 'findClaim' | 'listEnrollments'> = {
  findEnrollment,
  async findClaim(queries, { ownerNo, deviceId }) {
    const found = await queries.get(CANDIDATE, FIND_CANDIDATE, { ownerNo, deviceId })
    return found && { hasCredential: found.credentialCreatedAt !== null, claimHash: found.claimHash }
  },
  async listEnrollments(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(ENROLLMENT, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ enrollmentId }) => enrollmentId)
  },
}

export const enrollmentWrites: WriteSteps<'createEnrollment' | 'revokeEnrollment'> = {
  async createEnrollment(queries, enrollment) {
    await queries.run(INSERT, partOf(INSERT, { ...enrollment, tags: JSON.stringify(enrollment.tags) }))
    const { enrollmentId, ownerNo, name, createdAt: at, createdBy } = enrollment
    const data = { enrollmentId, name, principal: createdBy ?? '' }
    queries.resourceChanged('enrollment.created', { ownerNo, at, data, after: shown(enrollment) })
    return { ...enrollment, used: 0, revokedAt: null }
  },
  async revokeEnrollment(queries, { ownerNo, enrollmentId, principal, at }) {
    const found = await queries.get(ENROLLMENT, LOCK, { enrollmentId })
    if (found?.ownerNo !== ownerNo) return 'unknown'
    // A second revocation keeps the time of the first.
    if (found.revokedAt !== null) return 'revoked-before'
    await revoke(queries, found, { principal, at })
    return 'revoked'
  },
}

const OF_MAKERS = inBoth(
  ({ isIn, lock }) => `
  SELECT ${ENROLLMENT} FROM enrollment
  WHERE ${isIn('created_by', 'makers', 'text')} AND revoked_at IS NULL AND expires_at > :at
  ORDER BY enrollment_id ${lock}`,
)

/** Revokes the open enrollments of these principals; returns their ids. */
export async function revokeEnrollmentsOf(
  queries: Writes,
  { makers, principal, at }: { makers: string[]; principal: string; at: number },
): Promise<string[]> {
  const found = await queries.all(ENROLLMENT, OF_MAKERS, { makers, at })
  for (const enrollment of found) await revoke(queries, enrollment, { principal, at })
  return found.map(({ enrollmentId }) => enrollmentId)
}

async function revoke(
  queries: Writes,
  enrollment: StoredEnrollment,
  { principal, at }: { principal: string; at: number },
): Promise<void> {
  const { enrollmentId, ownerNo, name } = enrollment
  await queries.run(REVOKE, { enrollmentId, at })
  const data = { enrollmentId, name, principal }
  queries.resourceChanged('enrollment.revoked', { ownerNo, at, data, before: shown(enrollment) })
}

type Shown = 'name' | 'maxUses' | 'tags' | 'deviceIdPrefix' | 'expiresAt'

function shown({ name, maxUses, tags, deviceIdPrefix, expiresAt }: Pick<StoredEnrollment, Shown>) {
  return { name, maxUses, tags, deviceIdPrefix, expiresAt }
}

export function findEnrollment(
  queries: Queries,
  { enrollmentId }: { enrollmentId: string },
): Promise<StoredEnrollment | undefined> {
  return queries.get(ENROLLMENT, FIND, { enrollmentId })
}

/** `putDevice` creates the device if it does not exist. */
export async function enrollDevice(
  queries: Writes,
  enrolling: Enrolling,
  putDevice: (put: DevicePut) => unknown,
): Promise<EnrollOutcome> {
  const { enrollmentId, deviceId, deviceName, token, claimHash } = enrolling
  const { at } = token
  const enrollment = await queries.get(ENROLLMENT, LOCK, { enrollmentId })
  if (enrollment === undefined) return { kind: 'not-open' }
  const { ownerNo, tags } = enrollment
  const device = await queries.get(CANDIDATE, LOCK_CANDIDATE, { ownerNo, deviceId })
  const judgement = judgeEnrollment(enrollment, device, { at, claimHash })
  if (judgement === 'not-open' || judgement === 'taken') return { kind: judgement }

  if (judgement === 'first-time') await queries.run(USE, { enrollmentId })
  if (device === undefined) await putDevice({ ownerNo, deviceId, deviceName, tags, at })
  await setDeviceToken(queries, { ownerNo, deviceId, token, at, claimHash })
  return { kind: 'enrolled' }
}
