import { judgeEnrollment } from '../../domain/judge-enrollment.ts'
import type { Enrolling, EnrollOutcome, Store, StoredEnrollment } from '../../domain/store.ts'
import { toCandidate, toEnrollment } from '../from-rows.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import { putDevices } from './device-puts.ts'
import { setToken } from './devices.ts'
import { type Queries, sliced } from './rows.ts'
import type { Transaction } from './transaction.ts'

const SELECT = `
  SELECT enrollment_id, owner_no, name, secret_hash, max_uses, used, tags, device_id_prefix, expires_at, revoked_at,
    created_at
  FROM enrollment`
const INSERT = `
  INSERT INTO enrollment (enrollment_id, owner_no, name, secret_hash, max_uses, tags, device_id_prefix, expires_at,
    created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
const FIND = `${SELECT} WHERE enrollment_id = $1`
const LOCK = `${FIND} FOR NO KEY UPDATE`
const LIST = `${SELECT} WHERE owner_no = $1 AND enrollment_id > $2 ORDER BY enrollment_id LIMIT $3`
// A second revocation keeps the instant of the first.
const REVOKE = `
  UPDATE enrollment SET revoked_at = coalesce(revoked_at, $3::bigint)
  WHERE enrollment_id = $1 AND owner_no = $2 RETURNING 1`
const USE = 'UPDATE enrollment SET used = used + 1 WHERE enrollment_id = $1'
const CANDIDATE = `
  SELECT token_created_at, revoked_at, last_seen_at, claim_hash FROM device
  WHERE owner_no = $1 AND device_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`

type EnrollmentSteps = Pick<
  Store,
  'createEnrollment' | 'findEnrollment' | 'listEnrollments' | 'revokeEnrollment' | 'enrollDevice'
>

export function buildEnrollmentSteps(db: Database, catalogue: Catalogue): EnrollmentSteps {
  return {
    async createEnrollment(enrollment) {
      const { enrollmentId, ownerNo, name, secretHash, maxUses, tags, deviceIdPrefix } = enrollment
      const { expiresAt, createdAt } = enrollment
      const values = [enrollmentId, ownerNo, name, secretHash, maxUses, JSON.stringify(tags), deviceIdPrefix]
      await db.inTransaction((transaction) => transaction.query(INSERT, [...values, expiresAt, createdAt]))
      return { ...enrollment, used: 0, revokedAt: null }
    },
    findEnrollment: ({ enrollmentId }) => findEnrollment(db, FIND, enrollmentId),
    async listEnrollments({ ownerNo, slice: { after, limit } }) {
      const rows = await db.query(LIST, [ownerNo, after ?? '', limit + 1])
      return sliced(rows.map(toEnrollment), limit, (enrollment) => enrollment.enrollmentId)
    },
    async revokeEnrollment({ ownerNo, enrollmentId, at }) {
      const values = [enrollmentId, ownerNo, at]
      const rows = await db.inTransaction((transaction) => transaction.query(REVOKE, values))
      return rows.length > 0
    },
    async enrollDevice(enrolling) {
      // Whose it is never changes; all else is read again under the locks.
      const known = await findEnrollment(db, FIND, enrolling.enrollmentId)
      if (known === undefined) return { kind: 'not-open' }
      return catalogue.change([known.ownerNo], (transaction) => enrollDevice(transaction, enrolling))
    },
  }
}

async function enrollDevice(transaction: Transaction, enrolling: Enrolling): Promise<EnrollOutcome> {
  const { enrollmentId, deviceId, deviceName, token, claimHash } = enrolling
  const { at } = token
  const enrollment = (await findEnrollment(transaction, LOCK, enrollmentId)) as StoredEnrollment
  const { ownerNo } = enrollment
  const [row] = await transaction.query(CANDIDATE, [ownerNo, deviceId])
  const device = row && toCandidate(row)
  const judgement = judgeEnrollment(enrollment, device, { at, claimHash })
  if (judgement === 'not-open' || judgement === 'taken') return { kind: judgement }

  if (judgement === 'first-time') await transaction.query(USE, [enrollmentId])
  if (device === undefined) {
    await putDevices(transaction, [{ ownerNo, deviceId, deviceName, tags: enrollment.tags, at }])
  }
  await setToken(transaction, { ownerNo, deviceId, token, at, claimHash })
  return { kind: 'enrolled' }
}

async function findEnrollment(
  queries: Queries,
  sql: string,
  enrollmentId: string,
): Promise<StoredEnrollment | undefined> {
  const [row] = await queries.query(sql, [enrollmentId])
  return row && toEnrollment(row)
}
