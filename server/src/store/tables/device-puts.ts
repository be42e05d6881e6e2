// Puts many devices at once: each row is read and written once, even if the list contains it several times.

import { isExpected } from '../../domain/common/entity-tag.ts'
import { steadyInstant } from '../../domain/common/instants.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceTag as entityTag, ownFields } from '../../domain/device/own-fields.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import type { DevicePut, DevicePutResult, StoredDevice } from '../../domain/device/ports/devices.ts'
import { putDevice } from '../../domain/device/put-device.ts'
import { columnOf, deviceKeySet, inBoth, insertInto, keysOf, updateRows, type Writes } from '../queries.ts'
import { rows, select, text } from '../schema/column.ts'
import { device, devicePutFields, deviceTag, offerWindow } from '../schema/tables.ts'
import { pickValues } from '../statement.ts'
import { type AttributeChange, writeAttributes } from './device-attributes.ts'
import { deviceFields, toDevice } from './devices.ts'
import { followDevices } from './group-windows.ts'

const key = device.pick('ownerNo', 'deviceId')
const LOCKED = select({ ...deviceFields, ...device.pick('ownerNo', 'deviceNo', 'deletedAt') })
const LOCK = inBoth(
  ({ is, join, records, lock }) => `
  SELECT ${LOCKED} FROM ${is === 'sqlite' ? records('keys', key) : deviceKeySet()}
    ${join} device ON device.owner_no = record."ownerNo" AND device.device_id = record."deviceId"
  ${is === 'postgres' ? `ORDER BY device.owner_no, device.device_id ${lock} OF device` : ''}`,
)
const INSERTED = rows({ ...key, ...device.pick('deviceNo') })
const written = { ...devicePutFields, ...device.pick('createdAt', 'updatedAt') }
const added = Object.entries({ ...key, ...written })
const INSERT = inBoth(
  ({ records }) => `
  INSERT INTO device (${added.map(([, field]) => columnOf(field)).join(', ')})
  SELECT ${added.map(([name]) => `"${name}"`).join(', ')} FROM ${records('added', { ...key, ...written })}
  RETURNING owner_no AS "ownerNo", device_id AS "deviceId", device_no AS "deviceNo"`,
)
const updated = { ...device.pick('deviceNo'), ...written }
const UPDATE = updateRows(device.pick('deviceNo'), written, ', deleted_at = NULL')
// If a device is renamed twice without an execution in between, the older name is the relevant one.
const RENAME = inBoth(({ is, field, records }) => {
  const renamed = records('rows', { ...device.pick('deviceNo'), oldName: text() })
  return `
  INSERT INTO device_rename (device_no, last_execution_id, device_name)
  SELECT ${field('deviceNo')}, execution_id, ${field('oldName')}
  FROM last_id ${is === 'sqlite' ? '' : `CROSS JOIN ${renamed}`} WHERE true ON CONFLICT DO NOTHING`
})
// For runs that get their ids concurrently (postgres/triggers.ts).
const NOTE_RENAME = inBoth(({ is }) =>
  is === 'sqlite'
    ? ''
    : `UPDATE owner SET renamed_execution_id = execution_id
  FROM unnest(CAST(:owners AS int[])) AS renamed (owner_no) CROSS JOIN last_id WHERE owner.owner_no = renamed.owner_no`,
)
const UNTAG = inBoth(
  ({ is, field, records }) => `
  DELETE FROM device_tag ${is === 'sqlite' ? '' : `USING ${records('rows', deviceTag.fields)}`}
  WHERE device_tag.owner_no = ${field('ownerNo')} AND device_tag.tag = ${field('tag')}
    AND device_tag.device_id = ${field('deviceId')}`,
)
const TAG = insertInto(deviceTag.fields)

/** `before`: also set for a deleted device. */
type Entry = DeviceKey & { deviceNo: number; before: StoredDevice | undefined; now: StoredDevice | undefined }
type NumberedPut = DevicePutResult & { deviceNo: number }

/** On PostgreSQL the caller must hold the lock of the catalogue, which prevents concurrent puts. */
export async function putDevices(queries: Writes, puts: DevicePut[]): Promise<NumberedPut[]> {
  const entries = await readEntries(queries, puts)
  const windows = await readWindows(queries, puts)
  const done = puts.map((put) => {
    const entry = entries.get(deviceText(put)) as Entry
    const created = entry.now === undefined
    const { now, event } = putDevice(entry.now, put)
    const current = entry.now && entityTag(entry.now)
    const refused = { entry, put, event: undefined, created: false, value: now, before: undefined }
    const isRefused = true as const
    if (!isExpected(put.expected, current)) return { ...refused, refusal: { isRefused } }
    if (typeof put.window === 'string' && !windows.has(`${put.ownerNo} ${put.window}`)) {
      return { ...refused, refusal: { isRefused, isWithoutWindow: true as const } }
    }
    const before = entry.now
    entry.now = now
    return { entry, put, event, created, value: now, before, refusal: undefined }
  })
  await writeEntries(queries, entries)
  const changed = new Set(done.flatMap(({ entry, event }) => (event ? [entry] : [])))
  await writeWindows(queries, [...changed], puts)
  return done.map(({ entry: { deviceNo }, put, event, created, value, before, refusal }) => {
    const { ownerNo, at } = put
    const shown = { before: before && ownFields(before), after: ownFields(value) }
    const audited = put.origin && { deviceId: put.deviceId, origin: put.origin, ...shown }
    if (event) queries.deviceChanged(event, { ownerNo, deviceNo, at, details: detailsOf(value), audited })
    if (refusal) return { created, value, deviceNo, ...refusal }
    return { created, value, deviceNo, ...(event === undefined && { isSame: true as const }) }
  })
}

/** The data of its event: only fields with a value. */
function detailsOf(device: StoredDevice): object {
  const hasAttributes = Object.keys(device.attributes).length > 0
  const given = Object.entries(ownFields(device)).filter(
    ([name, value]) => value !== null && (name !== 'attributes' || hasAttributes),
  )
  return Object.fromEntries(given)
}

const WINDOW = select(offerWindow.pick('ownerNo', 'windowName'))
const FIND_WINDOWS = inBoth(
  ({ isIn }) => `
  SELECT ${WINDOW} FROM offer_window
  WHERE ${isIn('owner_no', 'ownerNos', 'integer')} AND ${isIn('window_name', 'names', 'text')}`,
)

/** The windows in the puts that exist. */
async function readWindows(queries: Writes, puts: DevicePut[]): Promise<ReadonlySet<string>> {
  const named = puts.filter(({ window }) => typeof window === 'string')
  if (named.length === 0) return new Set()
  const ownerNos = [...new Set(named.map(({ ownerNo }) => ownerNo))]
  const names = [...new Set(named.map(({ window }) => window))]
  const found = await queries.all(WINDOW, FIND_WINDOWS, { ownerNos, names })
  return new Set(found.map(({ ownerNo, windowName }) => `${ownerNo} ${windowName}`))
}

async function writeWindows(queries: Writes, entries: Entry[], puts: DevicePut[]): Promise<void> {
  const clock = puts.reduce((latest, put) => Math.max(latest, put.clock ?? 0), 0)
  const changed = entries.flatMap(({ ownerNo, deviceId, deviceNo, before, now }) => {
    if (now === undefined) return []
    const isSame = (before?.window ?? null) === now.window
    return [{ ownerNo, deviceId, deviceNo, ...(!isSame && { own: now.window }) }]
  })
  await followDevices(queries, changed, steadyInstant(clock))
}

async function readEntries(queries: Writes, puts: DevicePut[]): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  for (const { ownerNo, deviceId } of puts) {
    const entry = { ownerNo, deviceId, deviceNo: 0, before: undefined, now: undefined }
    entries.set(deviceText(entry), entry)
  }
  const keys = [...entries.values()].map(({ ownerNo, deviceId }) => ({ ownerNo, deviceId }))
  for (const row of await queries.all(LOCKED, LOCK, { keys, ...keysOf(keys) })) {
    const { ownerNo, deviceNo, deletedAt, ...fields } = row
    const before = toDevice(fields)
    const now = deletedAt === null ? before : undefined
    entries.set(deviceText(row), { ownerNo, deviceId: fields.deviceId, deviceNo, before, now })
  }
  return entries
}

async function writeEntries(queries: Writes, entries: Map<string, Entry>): Promise<void> {
  // Omits devices that did not exist and were refused.
  const all = [...entries.values()].filter(({ now }) => now !== undefined)
  const added = all.filter(({ before }) => before === undefined).map(toRecord)
  const changed = all.filter(({ before }) => before !== undefined).map(toRecord)
  const renamed = changed.filter(({ oldName, deviceName }) => oldName !== deviceName)
  const owners = new Set(renamed.map(({ ownerNo }) => ownerNo))
  const untagged = all.flatMap((entry) => tagsOf(entry, entry.before, entry.now))
  const tagged = all.flatMap((entry) => tagsOf(entry, entry.now, entry.before))
  queries.sendRows(
    UPDATE,
    changed.map((record) => pickValues(updated, record)),
  )
  queries.sendRows(
    RENAME,
    renamed.map(({ deviceNo, oldName = '' }) => ({ deviceNo, oldName })),
  )
  if (owners.size > 0) queries.send(NOTE_RENAME, { owners: [...owners].sort((a, b) => a - b) })
  queries.sendRows(UNTAG, untagged)
  queries.sendRows(TAG, tagged)
  for (const inserted of added.length === 0 ? [] : await queries.all(INSERTED, INSERT, { added })) {
    const entry = entries.get(deviceText(inserted))
    if (entry) entry.deviceNo = inserted.deviceNo
  }
  writeAttributes(queries, all.map(attributesOf))
}

function attributesOf({ ownerNo, deviceId, deviceNo, before, now }: Entry): AttributeChange {
  const others = now?.reportedAttributes ?? {}
  return {
    ownerNo,
    deviceId,
    deviceNo,
    isNew: before === undefined,
    isReported: false,
    before: before?.attributes ?? {},
    now: now?.attributes ?? {},
    others,
  }
}

function toRecord({ ownerNo, deviceNo, before, now }: Entry) {
  const { deviceId, tags } = now as StoredDevice
  const values = { ...pickValues(written, now as StoredDevice), tags: JSON.stringify(tags) }
  return { ownerNo, deviceId, deviceNo, oldName: before?.deviceName, ...values }
}

/** The tags of one device that the other does not have. */
function tagsOf({ ownerNo, deviceId }: DeviceKey, one?: StoredDevice, other?: StoredDevice) {
  const tags = one?.tags.filter((tag) => !other?.tags.includes(tag)) ?? []
  return tags.map((tag) => ({ ownerNo, tag, deviceId }))
}
