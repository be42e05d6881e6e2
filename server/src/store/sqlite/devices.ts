import type { DatabaseSync } from 'node:sqlite'
import type { DevicePut, DeviceToken, Put, Slice, Sliced, StoredDevice } from '../../domain/store.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT device_no, device_id, device_name, tags, token_created_at, created_at, updated_at, deleted_at FROM device`
const FIND = `${SELECT} WHERE owner_no = ? AND device_id = ?`
const LIST = `${SELECT} WHERE owner_no = ? AND device_id > ? AND deleted_at IS NULL ORDER BY device_id LIMIT ?`
const LIST_BY_TAG = `
  SELECT device.* FROM device_tag CROSS JOIN device USING (owner_no, device_id)
  WHERE owner_no = ? AND tag = ? AND device_id > ? ORDER BY device_tag.device_id LIMIT ?`
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
  UPDATE device SET deleted_at = ?, tags = '[]', token_id = NULL, token_hash = NULL, token_created_at = NULL
  WHERE device_no = ?`
const SET_TOKEN = `
  UPDATE device SET token_id = ?, token_hash = ?, token_created_at = ?
  WHERE owner_no = ? AND device_id = ? AND deleted_at IS NULL`

export type DeviceKey = { ownerNo: number; deviceId: string }
export type DeviceRow = DeviceKey & { deviceNo: number; deviceName: string }

export function prepareDevices(db: DatabaseSync) {
  const find = db.prepare(FIND)
  const list = db.prepare(LIST)
  const listByTag = db.prepare(LIST_BY_TAG)
  const all = db.prepare(ALL)
  const insert = db.prepare(INSERT)
  const update = db.prepare(UPDATE)
  const rename = db.prepare(RENAME)
  const untag = db.prepare(UNTAG)
  const tag = db.prepare(TAG)
  const remove = db.prepare(DELETE)
  const setToken = db.prepare(SET_TOKEN)

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
    return { created, value: toDevice(after), deviceNo: after.device_no as number }
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
      slice: Slice<string>
    }): Sliced<StoredDevice, string> {
      const { ownerNo, tag } = input
      const { after = '', limit } = input.slice
      const rows =
        tag === undefined
          ? list.all(ownerNo, after, limit + 1)
          : listByTag.all(ownerNo, tag, after, limit + 1)
      return sliced(rows.map(toDevice), limit, (device) => device.deviceId)
    },
    /** The row only; its executions are ended by whoever calls this, in the same transaction. */
    deleteDeviceRow({ ownerNo, deviceId, at }: DeviceKey & { at: number }): boolean {
      const row = find.get(ownerNo, deviceId)
      if (row === undefined || row.deleted_at !== null) return false
      untag.run(ownerNo, deviceId, row.tags as string)
      remove.run(at, row.device_no as number)
      return true
    },
    setDeviceToken({ ownerNo, deviceId, token }: DeviceKey & { token: DeviceToken }): boolean {
      return setToken.run(token.tokenId, token.tokenHash, token.at, ownerNo, deviceId).changes > 0
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

function toDevice(row: Row): StoredDevice {
  return {
    deviceId: row.device_id as string,
    deviceName: row.device_name as string,
    tags: JSON.parse(row.tags as string),
    credentialCreatedAt: row.token_created_at as number | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
