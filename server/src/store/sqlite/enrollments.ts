import type { DatabaseSync } from 'node:sqlite'
import { type Candidate, judgeEnrollment } from '../../domain/judge-enrollment.ts'
import type {
  DeviceKey,
  Enrolling,
  EnrollOutcome,
  NewStoredEnrollment,
  Slice,
  Sliced,
  StoredEnrollment,
} from '../../domain/store.ts'
import { toCandidate, toEnrollment } from '../from-rows.ts'
import type { DeviceRow, prepareDevices } from './devices.ts'
import { sliced } from './rows.ts'

const SELECT = `
  SELECT enrollment_id, owner_no, name, secret_hash, max_uses, used, tags, device_id_prefix, expires_at, revoked_at,
    created_at
  FROM enrollment`
const INSERT = `
  INSERT INTO enrollment (enrollment_id, owner_no, name, secret_hash, max_uses, tags, device_id_prefix, expires_at,
    created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
const LIST = `${SELECT} WHERE owner_no = ? AND enrollment_id > ? ORDER BY enrollment_id LIMIT ?`
// A second revocation keeps the instant of the first.
const REVOKE = `
  UPDATE enrollment SET revoked_at = coalesce(revoked_at, :at)
  WHERE enrollment_id = :enrollmentId AND owner_no = :ownerNo`
const USE = 'UPDATE enrollment SET used = used + 1 WHERE enrollment_id = ?'
const CANDIDATE = `
  SELECT token_created_at, revoked_at, last_seen_at, claim_hash FROM device
  WHERE owner_no = ? AND device_id = ? AND deleted_at IS NULL`
const CLAIM = 'UPDATE device SET claim_hash = ? WHERE owner_no = ? AND device_id = ?'

type Devices = Pick<ReturnType<typeof prepareDevices>, 'putDevices' | 'setDeviceToken'>

export function prepareEnrollments(db: DatabaseSync, { putDevices, setDeviceToken }: Devices) {
  const insert = db.prepare(INSERT)
  const find = db.prepare(`${SELECT} WHERE enrollment_id = ?`)
  const list = db.prepare(LIST)
  const revoke = db.prepare(REVOKE)
  const use = db.prepare(USE)
  const candidate = db.prepare(CANDIDATE)
  const claim = db.prepare(CLAIM)

  function findEnrollment(enrollmentId: string): StoredEnrollment | undefined {
    const row = find.get(enrollmentId)
    return row && toEnrollment(row)
  }

  function findCandidate({ ownerNo, deviceId }: DeviceKey): Candidate | undefined {
    const row = candidate.get(ownerNo, deviceId)
    return row && toCandidate(row)
  }

  /** `made`: the device, if there was none. */
  function enrollDevice(enrolling: Enrolling): EnrollOutcome & { made?: DeviceRow } {
    const { enrollmentId, deviceId, deviceName, token, claimHash } = enrolling
    const { at } = token
    const enrollment = findEnrollment(enrollmentId)
    if (enrollment === undefined) return { kind: 'not-open' }
    const { ownerNo, tags } = enrollment
    const device = findCandidate({ ownerNo, deviceId })
    const judgement = judgeEnrollment(enrollment, device, { at, claimHash })
    if (judgement === 'not-open' || judgement === 'taken') return { kind: judgement }

    if (judgement === 'first-time') use.run(enrollmentId)
    const [put] = device ? [] : putDevices([{ ownerNo, deviceId, deviceName, tags, at }])
    setDeviceToken({ ownerNo, deviceId, token, at })
    claim.run(claimHash, ownerNo, deviceId)
    return {
      kind: 'enrolled',
      ...(put && { made: { ownerNo, deviceId, deviceName, deviceNo: put.deviceNo } }),
    }
  }

  return {
    createEnrollment(enrollment: NewStoredEnrollment): StoredEnrollment {
      const { enrollmentId, ownerNo, name, secretHash, maxUses, deviceIdPrefix } = enrollment
      const { expiresAt, createdAt } = enrollment
      const tags = JSON.stringify(enrollment.tags)
      insert.run(enrollmentId, ownerNo, name, secretHash, maxUses, tags, deviceIdPrefix, expiresAt, createdAt)
      return { ...enrollment, used: 0, revokedAt: null }
    },
    findEnrollment,
    listEnrollments(input: { ownerNo: number; slice: Slice<string> }): Sliced<StoredEnrollment, string> {
      const { after, limit } = input.slice
      const rows = list.all(input.ownerNo, after ?? '', limit + 1)
      return sliced(rows.map(toEnrollment), limit, (enrollment) => enrollment.enrollmentId)
    },
    revokeEnrollment(input: { ownerNo: number; enrollmentId: string; at: number }): boolean {
      return revoke.run(input).changes > 0
    },
    enrollDevice,
  }
}
