// Puts of devices, and which ones there are at start.

import type { DatabaseSync } from 'node:sqlite'
import type { DeviceKey, DevicePut, Put, StoredDevice } from '../../domain/store.ts'
import { computed, select, text } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import { deviceFields, toDevice } from '../tables/devices.ts'
import type { EventLog } from './events.ts'

const { ownerNo, deviceNo, deviceId, deviceName, deletedAt } = device.fields
// The tags as text as well: what is put is compared with it.
const DEVICE = select({ ...deviceFields, deviceNo, deletedAt, tagsText: computed('device.tags', text()) })
const FIND = `SELECT ${DEVICE} FROM device WHERE owner_no = ? AND device_id = ?`
const REF = select({ ownerNo, deviceNo, deviceId, deviceName })
const ALL = `SELECT ${REF} FROM device WHERE deleted_at IS NULL`
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

export type DeviceRow = DeviceKey & { deviceNo: number; deviceName: string }

export function prepareDevicePuts(db: DatabaseSync, log: EventLog) {
  const find = db.prepare(FIND)
  const insert = db.prepare(INSERT)
  const update = db.prepare(UPDATE)
  const rename = db.prepare(RENAME)
  const untag = db.prepare(UNTAG)
  const tag = db.prepare(TAG)

  function putDevice(put: DevicePut): Put<StoredDevice> & { deviceNo: number } {
    const { ownerNo, deviceId, deviceName, at } = put
    const tags = JSON.stringify(put.tags)
    const row = find.get(ownerNo, deviceId)
    const before = row && DEVICE.read(row)
    if (before === undefined) {
      insert.run(ownerNo, deviceId, deviceName, tags, at, at)
    } else {
      if (before.deviceName !== deviceName) rename.run(before.deviceNo, before.deviceName)
      if (before.tagsText !== tags) untag.run(ownerNo, deviceId, before.tagsText)
      update.run({ deviceNo: before.deviceNo, deviceName, tags, at })
    }
    if (before?.tagsText !== tags) tag.run(ownerNo, deviceId, tags)
    const after = DEVICE.read(find.get(ownerNo, deviceId) ?? {})
    const created = before === undefined || before.deletedAt !== null
    const { deviceNo } = after
    if (created || before?.deviceName !== deviceName || before.tagsText !== tags) {
      const details = { deviceName, tags: put.tags }
      log.deviceChanged(created ? 'device.created' : 'device.updated', { ownerNo, deviceNo, at, details })
    }
    return { created, value: toDevice(after), deviceNo }
  }

  return { putDevices: (puts: DevicePut[]) => puts.map(putDevice) }
}

/** For the catalogue, at start. */
export function* allDevices(db: DatabaseSync): Generator<DeviceRow> {
  for (const row of db.prepare(ALL).iterate()) yield REF.read(row)
}
