// Puts of devices, many at once: each row is read once and written once, however often the list puts it.

import type { DevicePut, StoredDevice } from '../../domain/ports/devices.ts'
import type { Put } from '../../domain/ports/slices.ts'
import { rows, select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import { deviceFields, toDevice } from '../tables/devices.ts'
import { deviceChanged } from './events.ts'
import type { Transaction } from './transaction.ts'

const { ownerNo, deviceNo, deviceId, deletedAt } = device.fields
const LOCKED = select({ ...deviceFields, ownerNo, deviceNo, deletedAt })
const LOCK = `
  SELECT ${LOCKED}
  FROM unnest($1::int[], $2::text[]) AS wanted (owner_no, device_id) JOIN device USING (owner_no, device_id)
  ORDER BY device.owner_no, device.device_id FOR NO KEY UPDATE OF device`
const RECORDS = `
  json_to_recordset($1::json) AS put (owner_no int, device_id text, device_name text, tags text, created_at bigint,
    updated_at bigint, old_name text, old_tags json, new_tags json)`
const INSERT = `
  INSERT INTO device (owner_no, device_id, device_name, tags, created_at, updated_at)
  SELECT owner_no, device_id, device_name, tags, created_at, updated_at FROM ${RECORDS}
  RETURNING owner_no AS "ownerNo", device_id AS "deviceId", device_no AS "deviceNo"`
const INSERTED = rows({ ownerNo, deviceId, deviceNo })
const UPDATE = `
  UPDATE device SET device_name = put.device_name, tags = put.tags, created_at = put.created_at,
    updated_at = put.updated_at, deleted_at = NULL
  FROM ${RECORDS} WHERE device.owner_no = put.owner_no AND device.device_id = put.device_id`
// Renamed twice without an execution between: the older name is the one that was seen.
const RENAME = `
  INSERT INTO device_rename (device_no, last_execution_id, device_name)
  SELECT device_no, execution_id, old_name FROM ${RECORDS} JOIN device USING (owner_no, device_id) CROSS JOIN last_id
  ON CONFLICT DO NOTHING`
const NOTE_RENAME = `
  UPDATE owner SET renamed_execution_id = execution_id
  FROM unnest($1::int[]) AS renamed (owner_no) CROSS JOIN last_id WHERE owner.owner_no = renamed.owner_no`
const UNTAG = `
  DELETE FROM device_tag USING ${RECORDS} CROSS JOIN json_array_elements_text(old_tags) AS old (tag)
  WHERE device_tag.owner_no = put.owner_no AND device_tag.device_id = put.device_id AND device_tag.tag = old.tag`
const TAG = `
  INSERT INTO device_tag (owner_no, tag, device_id)
  SELECT owner_no, new.tag, device_id FROM ${RECORDS} CROSS JOIN json_array_elements_text(new_tags) AS new (tag)`

type Entry = {
  ownerNo: number
  deviceNo: number | undefined
  before: StoredDevice | undefined
  now: StoredDevice | undefined
}
type Change = { entry: Entry; put: DevicePut; type: 'device.created' | 'device.updated' }

/** Only for who holds the right to change the catalogue: nobody else puts these devices meanwhile. */
export async function putDevices(transaction: Transaction, puts: DevicePut[]): Promise<Put<StoredDevice>[]> {
  const entries = await readEntries(transaction, puts)
  const changes: Change[] = []
  const results = puts.map((put) => {
    const entry = entries.get(keyOf(put)) as Entry
    const before = entry.now
    const now = after(before, put)
    entry.now = now
    if (before === undefined) changes.push({ entry, put, type: 'device.created' })
    else if (before.deviceName !== put.deviceName || !isSame(before.tags, put.tags))
      changes.push({ entry, put, type: 'device.updated' })
    return { created: before === undefined, value: now }
  })
  await writeEntries(transaction, entries)
  for (const { entry, put, type } of changes) {
    const { ownerNo, at, deviceName, tags } = put
    const deviceNo = entry.deviceNo as number
    deviceChanged(transaction, type, { ownerNo, deviceNo, at, details: { deviceName, tags } })
  }
  return results
}

async function readEntries(transaction: Transaction, puts: DevicePut[]): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  for (const put of puts) {
    const { ownerNo } = put
    entries.set(keyOf(put), {
      ownerNo,
      deviceNo: undefined,
      before: undefined,
      now: undefined,
    })
  }
  const distinct = [...new Map(puts.map((put) => [keyOf(put), put])).values()]
  const found = await transaction.query(LOCK, [
    distinct.map(({ ownerNo }) => ownerNo),
    distinct.map(({ deviceId }) => deviceId),
  ])
  for (const row of found.map(LOCKED.read)) {
    const entry = entries.get(keyOf(row))
    if (entry === undefined) continue
    entry.deviceNo = row.deviceNo
    entry.before = toDevice(row)
    entry.now = row.deletedAt === null ? entry.before : undefined
  }
  return entries
}

async function writeEntries(transaction: Transaction, entries: Map<string, Entry>): Promise<void> {
  const records = [...entries.values()].map(toRecord)
  const added = records.filter(({ is_new }) => is_new)
  const changed = records.filter(({ is_new }) => !is_new)
  const renamed = changed.filter(({ old_name }) => old_name !== null)
  const tagged = records.filter(({ new_tags }) => new_tags.length > 0)
  if (changed.length > 0) {
    transaction.send(UPDATE, [JSON.stringify(changed)])
    transaction.send(UNTAG, [JSON.stringify(changed)])
  }
  if (renamed.length > 0) {
    transaction.send(RENAME, [JSON.stringify(renamed)])
    const owners = new Set(renamed.map(({ owner_no }) => owner_no))
    transaction.send(NOTE_RENAME, [[...owners].sort((a, b) => a - b)])
  }
  if (tagged.length > 0) transaction.send(TAG, [JSON.stringify(tagged)])
  if (added.length === 0) return
  for (const row of await transaction.query(INSERT, [JSON.stringify(added)])) {
    const inserted = INSERTED.read(row)
    const entry = entries.get(keyOf(inserted))
    if (entry) entry.deviceNo = inserted.deviceNo
  }
}

function toRecord({ ownerNo, before, now }: Entry) {
  const { deviceId, deviceName, tags, createdAt, updatedAt } = now as StoredDevice
  const oldTags = before?.tags ?? []
  return {
    is_new: before === undefined,
    owner_no: ownerNo,
    device_id: deviceId,
    device_name: deviceName,
    tags: JSON.stringify(tags),
    created_at: createdAt,
    updated_at: updatedAt,
    old_name: before === undefined || before.deviceName === deviceName ? null : before.deviceName,
    old_tags: oldTags.filter((tag) => !tags.includes(tag)),
    new_tags: tags.filter((tag) => !oldTags.includes(tag)),
  }
}

function after(
  before: StoredDevice | undefined,
  { deviceId, deviceName, tags, at }: DevicePut,
): StoredDevice {
  if (before) return { ...before, deviceName, tags, updatedAt: at }
  return {
    deviceId,
    deviceName,
    tags,
    credentialCreatedAt: null,
    credentialCreatedBy: null,
    certificateRevokedAt: null,
    presence: { online: false, since: null, lastSeenAt: null, transport: null },
    createdAt: at,
    updatedAt: at,
  }
}

function isSame(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((tag, index) => tag === other[index])
}

function keyOf({ ownerNo, deviceId }: Pick<DevicePut, 'ownerNo' | 'deviceId'>): string {
  return `${ownerNo} ${deviceId}`
}
