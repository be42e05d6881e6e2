import type { DatabaseSync } from 'node:sqlite'
import type {
  DeviceCredential,
  DeviceKey,
  DevicePut,
  DeviceToken,
  Put,
  Slice,
  Sliced,
  StoredDevice,
  Transport,
} from '../../domain/store.ts'
import type { EventLog } from './events.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT device_no, device_id, device_name, tags, token_created_at, online, presence_since, last_seen_at, door,
    created_at, updated_at, deleted_at
  FROM device`
const FIND = `${SELECT} WHERE owner_no = ? AND device_id = ?`
const LIST = `
  ${SELECT} WHERE owner_no = :ownerNo AND device_id > :after AND deleted_at IS NULL
    AND (:online IS NULL OR online = :online)
  ORDER BY device_id LIMIT :limit`
// The condition of device_online: who is offline, however many, is not looked at.
const LIST_ONLINE = `
  ${SELECT} WHERE owner_no = :ownerNo AND device_id > :after AND deleted_at IS NULL AND online = 1
  ORDER BY device_id LIMIT :limit`
const LIST_BY_TAG = `
  SELECT device.* FROM device_tag CROSS JOIN device USING (owner_no, device_id)
  WHERE owner_no = :ownerNo AND tag = :tag AND device_id > :after AND (:online IS NULL OR online = :online)
  ORDER BY device_tag.device_id LIMIT :limit`
const ALL = 'SELECT owner_no, device_no, device_id, device_name FROM device WHERE deleted_at IS NULL'
const INSERT = `
  INSERT INTO device (owner_no, device_id, device_name, tags, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`
const UPDATE = `
  UPDATE device SET device_name = :deviceName, tags = :tags, updated_at = :at, deleted_at = NULL,
    created_at = iif(deleted_at IS NULL, created_at, :at)
  WHERE device_no = :deviceNo`
const RENAME = `
  INSERT INTO device_rename (device_no, last_execution_id, device_name)
  SELECT ?, execution_id, ? FROM last_id WHERE true
  ON CONFLICT DO NOTHING` // renamed twice without an execution between: the older name is the one that was seen
const UNTAG =
  'DELETE FROM device_tag WHERE owner_no = ? AND device_id = ? AND tag IN (SELECT value FROM json_each(?))'
const TAG = 'INSERT INTO device_tag (owner_no, tag, device_id) SELECT ?, value, ? FROM json_each(?)'
// A deleted device has no token: whoever held it is out at once.
const DELETE = `
  UPDATE device SET deleted_at = ?, tags = '[]', token_id = NULL, token_hash = NULL, token_created_at = NULL,
    online = 0, presence_since = NULL, last_seen_at = NULL, door = NULL, revoked_at = NULL, claim_hash = NULL
  WHERE device_no = ?`
const SET_TOKEN = `
  UPDATE device SET token_id = ?, token_hash = ?, token_created_at = ?, revoked_at = ?, claim_hash = NULL
  WHERE owner_no = ? AND device_id = ? AND deleted_at IS NULL RETURNING device_no`
const BY_TOKEN = 'SELECT owner_no, device_id, token_hash FROM device WHERE token_id = ?'
// Whoever is named like the id of another owner does not stand in for that one.
const BY_CERTIFICATE = `
  SELECT owner_no, device_id FROM device
  WHERE owner_no = coalesce(
      (SELECT owner_no FROM owner WHERE owner_id = :owner), (SELECT owner_no FROM owner WHERE owner_name = :owner))
    AND device_id = :deviceId AND deleted_at IS NULL AND revoked_at IS NULL`

export type DeviceRow = DeviceKey & { deviceNo: number; deviceName: string }

/** Without a log for whoever only reads. */
export function prepareDevices(db: DatabaseSync, log?: EventLog) {
  const find = db.prepare(FIND)
  const list = db.prepare(LIST)
  const listOnline = db.prepare(LIST_ONLINE)
  const listByTag = db.prepare(LIST_BY_TAG)
  const all = db.prepare(ALL)
  const insert = db.prepare(INSERT)
  const update = db.prepare(UPDATE)
  const rename = db.prepare(RENAME)
  const untag = db.prepare(UNTAG)
  const tag = db.prepare(TAG)
  const remove = db.prepare(DELETE)
  const setToken = db.prepare(SET_TOKEN)
  const byToken = db.prepare(BY_TOKEN)
  const byCertificate = db.prepare(BY_CERTIFICATE)

  function putDevice(put: DevicePut): Put<StoredDevice> & { deviceNo: number } {
    const { ownerNo, deviceId, deviceName, at } = put
    const tags = JSON.stringify(put.tags)
    const before = find.get(ownerNo, deviceId)
    if (before === undefined) {
      insert.run(ownerNo, deviceId, deviceName, tags, at, at)
    } else {
      if (before.device_name !== deviceName)
        rename.run(before.device_no as number, before.device_name as string)
      if (before.tags !== tags) untag.run(ownerNo, deviceId, before.tags as string)
      update.run({ deviceNo: before.device_no as number, deviceName, tags, at })
    }
    if (before?.tags !== tags) tag.run(ownerNo, deviceId, tags)
    const after = find.get(ownerNo, deviceId) as Row
    const created = before === undefined || before.deleted_at !== null
    const deviceNo = after.device_no as number
    if (created || before?.device_name !== deviceName || before.tags !== tags) {
      const details = { deviceName, tags: put.tags }
      log?.deviceChanged(created ? 'device.created' : 'device.updated', { ownerNo, deviceNo, at, details })
    }
    return { created, value: toDevice(after), deviceNo }
  }

  return {
    putDevices: (puts: DevicePut[]) => puts.map(putDevice),
    getDevice({ ownerNo, deviceId }: DeviceKey): StoredDevice | undefined {
      const row = find.get(ownerNo, deviceId)
      return row && row.deleted_at === null ? toDevice(row) : undefined
    },
    listDevices(input: {
      ownerNo: number
      tag: string | undefined
      online: boolean | undefined
      slice: Slice<string>
    }): Sliced<StoredDevice, string> {
      const { ownerNo, tag, online } = input
      const { after = '', limit } = input.slice
      const page = { ownerNo, after, limit: limit + 1 }
      const wanted = online === undefined ? null : Number(online)
      const rows =
        tag !== undefined
          ? listByTag.all({ ...page, tag, online: wanted })
          : online
            ? listOnline.all(page)
            : list.all({ ...page, online: wanted })
      return sliced(rows.map(toDevice), limit, (device) => device.deviceId)
    },
    /** The row only; its executions are ended by whoever calls this, in the same transaction. */
    deleteDeviceRow({ ownerNo, deviceId, at }: DeviceKey & { at: number }): boolean {
      const row = find.get(ownerNo, deviceId)
      if (row === undefined || row.deleted_at !== null) return false
      const deviceNo = row.device_no as number
      untag.run(ownerNo, deviceId, row.tags as string)
      remove.run(at, deviceNo)
      log?.deviceChanged('device.deleted', { ownerNo, deviceNo, at })
      return true
    },
    setDeviceToken(input: DeviceKey & { token: DeviceToken | null; at: number }): boolean {
      const { ownerNo, deviceId, token, at } = input
      const values = token ? [token.tokenId, token.tokenHash, token.at, null] : [null, null, null, at]
      const row = setToken.get(...values, ownerNo, deviceId)
      if (row === undefined) return false
      const type = token ? 'device.credential_set' : 'device.credential_revoked'
      log?.deviceChanged(type, { ownerNo, deviceNo: row.device_no as number, at })
      return true
    },
    findDeviceByToken(tokenId: string): DeviceCredential | undefined {
      const row = byToken.get(tokenId)
      return row && { ...toKey(row), tokenHash: row.token_hash as Uint8Array }
    },
    findDeviceByCertificate(input: { ownerName: string; deviceId: string }): DeviceKey | undefined {
      const row = byCertificate.get({ owner: input.ownerName, deviceId: input.deviceId })
      return row && toKey(row)
    },
    /** For the catalogue, at start. */
    *allDevices(): Generator<DeviceRow> {
      for (const row of all.iterate()) {
        yield {
          ownerNo: row.owner_no as number,
          deviceNo: row.device_no as number,
          deviceId: row.device_id as string,
          deviceName: row.device_name as string,
        }
      }
    },
  }
}

function toKey(row: Row): DeviceKey {
  return { ownerNo: row.owner_no as number, deviceId: row.device_id as string }
}

function toDevice(row: Row): StoredDevice {
  return {
    deviceId: row.device_id as string,
    deviceName: row.device_name as string,
    tags: JSON.parse(row.tags as string),
    credentialCreatedAt: row.token_created_at as number | null,
    presence: {
      online: row.online === 1,
      since: row.presence_since as number | null,
      lastSeenAt: row.last_seen_at as number | null,
      transport: row.door as Transport | null,
    },
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
