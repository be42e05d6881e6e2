// Puts of devices, many at once: each row is read once and written once, however often the list puts it.

import { isExpected } from '../../domain/common/entity-tag.ts'
import { steadyInstant } from '../../domain/common/instants.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceTag as entityTag } from '../../domain/device/device-tag.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import type { DevicePut, DevicePutResult, StoredDevice } from '../../domain/device/ports/devices.ts'
import { putDevice } from '../../domain/device/put-device.ts'
import { deviceKeySet, inBoth, insertInto, keysOf, type Writes } from '../queries.ts'
import { rows, select, text } from '../schema/column.ts'
import { device, deviceTag, offerWindow } from '../schema/tables.ts'
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
const INSERT = inBoth(
  ({ records }) => `
  INSERT INTO device (owner_no, device_id, device_name, tags, created_at, updated_at)
  SELECT "ownerNo", "deviceId", "deviceName", tags, "createdAt", "updatedAt"
  FROM ${records('added', { ...key, ...device.pick('deviceName', 'tags', 'createdAt', 'updatedAt') })}
  RETURNING owner_no AS "ownerNo", device_id AS "deviceId", device_no AS "deviceNo"`,
)
const UPDATE = inBoth(({ is, field, records }) => {
  const written = device.pick('deviceNo', 'deviceName', 'tags', 'createdAt', 'updatedAt')
  return `
  UPDATE device SET device_name = ${field('deviceName')}, tags = ${field('tags')}, deleted_at = NULL,
    created_at = ${field('createdAt')}, updated_at = ${field('updatedAt')}
  ${is === 'sqlite' ? '' : `FROM ${records('rows', written)}`} WHERE device.device_no = ${field('deviceNo')}`
})
// Renamed twice without an execution between: the older name is the one that was seen.
const RENAME = inBoth(({ is, field, records }) => {
  const renamed = records('rows', { ...device.pick('deviceNo'), oldName: text() })
  return `
  INSERT INTO device_rename (device_no, last_execution_id, device_name)
  SELECT ${field('deviceNo')}, execution_id, ${field('oldName')}
  FROM last_id ${is === 'sqlite' ? '' : `CROSS JOIN ${renamed}`} WHERE true ON CONFLICT DO NOTHING`
})
// For those who are given ids meanwhile (postgres/triggers.ts).
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

/** `before`: also of one that was deleted. */
type Entry = DeviceKey & { deviceNo: number; before: StoredDevice | undefined; now: StoredDevice | undefined }
type NumberedPut = DevicePutResult & { deviceNo: number }

/** On PostgreSQL only for who may change the catalogue: nobody else puts these devices meanwhile. */
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
    const shown = { before: before && auditedDevice(before), after: auditedDevice(value) }
    const audited = put.origin && { deviceId: put.deviceId, origin: put.origin, ...shown }
    if (event) queries.deviceChanged(event, { ownerNo, deviceNo, at, details: detailsOf(value), audited })
    if (refusal) return { created, value, deviceNo, ...refusal }
    return { created, value, deviceNo, ...(event === undefined && { isSame: true as const }) }
  })
}

function auditedDevice({ deviceName, tags, attributes, window }: StoredDevice): object {
  return { deviceName, tags, attributes, window }
}

function detailsOf({ deviceName, tags, attributes, window }: StoredDevice): object {
  const hasAttributes = Object.keys(attributes).length > 0
  return { deviceName, tags, ...(hasAttributes && { attributes }), ...(window !== null && { window }) }
}

const WINDOW = select(offerWindow.pick('ownerNo', 'windowName'))
const FIND_WINDOWS = inBoth(
  ({ isIn }) => `
  SELECT ${WINDOW} FROM offer_window
  WHERE ${isIn('owner_no', 'ownerNos', 'integer')} AND ${isIn('window_name', 'names', 'text')}`,
)

/** Those of the windows that are named that there are. */
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
    const before = toDevice(row)
    const now = row.deletedAt === null ? before : undefined
    const { ownerNo, deviceId, deviceNo } = row
    entries.set(deviceText(row), { ownerNo, deviceId, deviceNo, before, now })
  }
  return entries
}

async function writeEntries(queries: Writes, entries: Map<string, Entry>): Promise<void> {
  // One that is not there, and was refused, stays so.
  const all = [...entries.values()].filter(({ now }) => now !== undefined)
  const added = all.filter(({ before }) => before === undefined).map(toRecord)
  const changed = all.filter(({ before }) => before !== undefined).map(toRecord)
  const renamed = changed.filter(({ oldName, deviceName }) => oldName !== deviceName)
  const owners = new Set(renamed.map(({ ownerNo }) => ownerNo))
  const untagged = all.flatMap((entry) => tagsOf(entry, entry.before, entry.now))
  const tagged = all.flatMap((entry) => tagsOf(entry, entry.now, entry.before))
  queries.sendRows(
    UPDATE,
    changed.map(({ deviceNo, deviceName, tags, createdAt, updatedAt }) => {
      return { deviceNo, deviceName, tags, createdAt, updatedAt }
    }),
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
    isReported: false,
    before: before?.attributes ?? {},
    now: now?.attributes ?? {},
    others,
  }
}

function toRecord({ ownerNo, deviceNo, before, now }: Entry) {
  const { deviceId, deviceName, tags, createdAt, updatedAt } = now as StoredDevice
  const written = { deviceName, tags: JSON.stringify(tags), createdAt, updatedAt }
  return { ownerNo, deviceId, deviceNo, oldName: before?.deviceName, ...written }
}

/** Those that the one has and the other has not. */
function tagsOf({ ownerNo, deviceId }: DeviceKey, one?: StoredDevice, other?: StoredDevice) {
  const tags = one?.tags.filter((tag) => !other?.tags.includes(tag)) ?? []
  return tags.map((tag) => ({ ownerNo, tag, deviceId }))
}
