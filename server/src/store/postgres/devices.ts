import type { DeviceKey, Store } from '../../domain/store.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import { putDevices } from './device-puts.ts'
import { DEVICE_COLUMNS, toDevice } from './device-rows.ts'
import { deviceChanged } from './events.ts'
import { inBatch } from './moves.ts'
import type { Policies } from './policies.ts'
import { type Row, sliced } from './rows.ts'
import type { Transaction } from './transaction.ts'

const SELECT = `SELECT ${DEVICE_COLUMNS} FROM device`
const FIND = `${SELECT} WHERE owner_no = $1 AND device_id = $2 AND deleted_at IS NULL`
const LIST = `
  ${SELECT} WHERE owner_no = $1 AND device_id > $2 AND deleted_at IS NULL AND ($4::boolean IS NULL OR online = $4)
  ORDER BY device_id LIMIT $3`
// The condition of device_online: who is offline, however many, is not looked at.
const LIST_ONLINE = `
  ${SELECT} WHERE owner_no = $1 AND device_id > $2 AND deleted_at IS NULL AND online ORDER BY device_id LIMIT $3`
const LIST_BY_TAG = `
  SELECT ${DEVICE_COLUMNS} FROM device_tag JOIN device USING (owner_no, device_id)
  WHERE owner_no = $1 AND device_tag.device_id > $2 AND tag = $5 AND ($4::boolean IS NULL OR online = $4)
  ORDER BY device_tag.device_id LIMIT $3`
const UNTAG = `
  DELETE FROM device_tag USING unnest($3::text[]) AS old (tag)
  WHERE owner_no = $1 AND device_id = $2 AND device_tag.tag = old.tag`
const LOCK = `
  SELECT device_no, tags FROM device WHERE owner_no = $1 AND device_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`
// A deleted device has no token: whoever held it is out at once.
const DELETE = `
  UPDATE device SET deleted_at = $1, tags = '[]', token_id = NULL, token_hash = NULL, token_created_at = NULL,
    online = false, presence_since = NULL, last_seen_at = NULL, door = NULL,
    node_no = NULL, session_since = NULL, revoked_at = NULL, claim_hash = NULL
  WHERE device_no = $2`
const SET_TOKEN = `
  UPDATE device SET token_id = $3, token_hash = $4, token_created_at = $5, revoked_at = $6, claim_hash = $7
  WHERE owner_no = $1 AND device_id = $2 AND deleted_at IS NULL RETURNING device_no`
const BY_TOKEN = 'SELECT owner_no, device_id, token_hash FROM device WHERE token_id = $1'
// Whoever is named like the id of another owner does not stand in for that one.
const BY_CERTIFICATE = `
  SELECT owner_no, device_id FROM device
  WHERE owner_no = coalesce(
      (SELECT owner_no FROM owner WHERE owner_id = $1), (SELECT owner_no FROM owner WHERE owner_name = $1))
    AND device_id = $2 AND deleted_at IS NULL AND revoked_at IS NULL`

type DeviceSteps = Pick<
  Store,
  | 'putDevices'
  | 'getDevice'
  | 'listDevices'
  | 'deleteDevice'
  | 'setDeviceToken'
  | 'findDeviceByToken'
  | 'findDeviceByCertificate'
>

export function buildDeviceSteps(db: Database, policies: Policies, catalogue: Catalogue): DeviceSteps {
  return {
    putDevices(puts) {
      const owners = puts.map(({ ownerNo }) => ownerNo)
      return catalogue.change(owners, (transaction) => putDevices(transaction, puts))
    },
    async getDevice({ ownerNo, deviceId }) {
      const [row] = await db.query(FIND, [ownerNo, deviceId])
      return row && toDevice(row)
    },
    async listDevices({ ownerNo, filter: { tag, online }, slice: { after = '', limit } }) {
      const page = [ownerNo, after, limit + 1]
      const rows =
        tag !== undefined
          ? await db.query(LIST_BY_TAG, [...page, online ?? null, tag])
          : online
            ? await db.query(LIST_ONLINE, page)
            : await db.query(LIST, [...page, online ?? null])
      return sliced(rows.map(toDevice), limit, (device) => device.deviceId)
    },
    deleteDevice({ ownerNo, deviceId, moment, actor }) {
      return catalogue.change([ownerNo], async (transaction) => {
        const deviceNo = await deleteRow(transaction, { ownerNo, deviceId, at: moment.at })
        if (deviceNo === undefined) return undefined
        return inBatch(transaction, policies, async (moves) => {
          const unfinished = await moves.lockOfDevice(deviceNo)
          return moves.batch.moveAll(unfinished, { event: 'remove-device', moment, actor })
        })
      })
    },
    setDeviceToken({ ownerNo, deviceId, token, at }) {
      return db.inTransaction((transaction) => setToken(transaction, { ownerNo, deviceId, token, at }))
    },
    async findDeviceByToken({ tokenId }) {
      const [row] = await db.query(BY_TOKEN, [tokenId])
      return row && { ...toKey(row), tokenHash: row.token_hash as Uint8Array }
    },
    async findDeviceByCertificate({ ownerName, deviceId }) {
      const [row] = await db.query(BY_CERTIFICATE, [ownerName, deviceId])
      return row && toKey(row)
    },
  }
}

/** Gives its number; undefined: there is none. */
async function deleteRow(
  transaction: Transaction,
  { ownerNo, deviceId, at }: DeviceKey & { at: number },
): Promise<number | undefined> {
  const [row] = await transaction.query(LOCK, [ownerNo, deviceId])
  if (row === undefined) return undefined
  const deviceNo = row.device_no as number
  await Promise.all([
    transaction.query(UNTAG, [ownerNo, deviceId, JSON.parse(row.tags as string)]),
    transaction.query(DELETE, [at, deviceNo]),
  ])
  deviceChanged(transaction, 'device.deleted', { ownerNo, deviceNo, at })
  return deviceNo
}

export async function setToken(
  transaction: Transaction,
  set: DeviceKey & {
    token: { tokenId: string; tokenHash: Uint8Array; at: number } | null
    at: number
    claimHash?: Uint8Array | null
  },
): Promise<boolean> {
  const { ownerNo, deviceId, token, at, claimHash = null } = set
  const values = token
    ? [token.tokenId, token.tokenHash, token.at, null, claimHash]
    : [null, null, null, at, claimHash]
  const [row] = await transaction.query(SET_TOKEN, [ownerNo, deviceId, ...values])
  if (row === undefined) return false
  const type = token ? 'device.credential_set' : 'device.credential_revoked'
  deviceChanged(transaction, type, { ownerNo, deviceNo: row.device_no as number, at })
  return true
}

function toKey(row: Row): DeviceKey {
  return { ownerNo: row.owner_no as number, deviceId: row.device_id as string }
}
