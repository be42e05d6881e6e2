// Attributes of devices, as rows for selectors.

import { sortKeyOf } from '@jobcast/contract/selector'
import { steadyInstant } from '../../domain/common/instants.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import type { AttributeOutcome, AttributeReport, Attributes } from '../../domain/device/ports/devices.ts'
import { changesOf, mergeReported } from '../../domain/device/put-device.ts'
import { deviceZoneOf, zoneAttribute, zoneOf } from '../../domain/window/device-zone.ts'
import {
  deviceKeySet,
  inBoth,
  insertInto,
  keysOf,
  type Spelling,
  type Writes,
  type ZoneChange,
} from '../queries.ts'
import { select } from '../schema/column.ts'
import { device, deviceAttribute } from '../schema/tables.ts'
import { deviceFields, toDevice } from './devices.ts'
import { followDevices } from './group-windows.ts'
import type { WriteSteps } from './step.ts'

const key = device.pick('ownerNo', 'deviceId')
const REPORTING = select({ ...deviceFields, ...device.pick('ownerNo', 'deviceNo') })
const LOCK = inBoth(
  ({ is, join, records, lock }) => `
  SELECT ${REPORTING} FROM ${is === 'sqlite' ? records('keys', key) : deviceKeySet()}
    ${join} device ON device.owner_no = record."ownerNo" AND device.device_id = record."deviceId"
  WHERE device.deleted_at IS NULL
  ${is === 'postgres' ? `ORDER BY device.owner_no, device.device_id ${lock} OF device` : ''}`,
)
// For new devices, which have no attributes: a fifth less work for PostgreSQL than with ON CONFLICT.
const ADD = insertInto(deviceAttribute.fields)
const replacing = `ON CONFLICT (device_no, name, reported)
  DO UPDATE SET value = excluded.value, sort_key = excluded.sort_key, shadowed = excluded.shadowed,
    zone = excluded.zone`
const PUT: typeof ADD = {
  sqlite: `${ADD.sqlite} ${replacing}`,
  postgres: `${ADD.postgres} ${replacing}`,
}
const named = deviceAttribute.pick('deviceNo', 'name', 'isReported')
const isNamed = ({ field }: Pick<Spelling, 'field'>) =>
  `device_attribute.device_no = ${field('deviceNo')} AND device_attribute.name = ${field('name')}` as const
const DROP = inBoth(
  ({ is, field, records }) => `
  DELETE FROM device_attribute ${is === 'sqlite' ? '' : `USING ${records('rows', named)}`}
  WHERE ${isNamed({ field })} AND device_attribute.reported = ${field('isReported')}`,
)
const SHADOW = inBoth(
  ({ is, field, records }) => `
  UPDATE device_attribute SET shadowed = ${field('isShadowed')}
  ${is === 'sqlite' ? '' : `FROM ${records('rows', deviceAttribute.pick('deviceNo', 'name', 'isShadowed'))}`}
  WHERE ${isNamed({ field })} AND device_attribute.reported`,
)

/** `others`: attributes from the other source. If both have a name, the owner's value takes precedence. */
export type AttributeChange = {
  ownerNo: number
  deviceId: string
  deviceNo: number
  /** Created in this transaction. */
  isNew?: boolean
  isReported: boolean
  before: Attributes
  now: Attributes
  others: Attributes
}

/** The caller must have locked the devices. */
export function writeAttributes(queries: Writes, changes: AttributeChange[]): void {
  const each = changes.flatMap((change) =>
    changesOf(change.before, change.now).map((name) => ({ name, ...change })),
  )
  const [put, dropped] = [each.filter(isPut), each.filter((change) => !isPut(change))]
  queries.sendRows(ADD, put.filter(({ isNew }) => isNew).map(toRow))
  queries.sendRows(PUT, put.filter(({ isNew }) => !isNew).map(toRow))
  queries.sendRows(
    DROP,
    dropped.map(({ deviceNo, name, isReported }) => ({ deviceNo, name, isReported })),
  )
  queries.sendRows(
    SHADOW,
    each
      .filter(({ isReported, name, others }) => !isReported && Object.hasOwn(others, name))
      .map((change) => ({ deviceNo: change.deviceNo, name: change.name, isShadowed: isPut(change) })),
  )
  const moved = each.filter(({ name }) => name === zoneAttribute)
  if (moved.length > 0) queries.zonesChanged(moved.map(toZone))
}

function toRow(change: AttributeChange & { name: string }) {
  const { ownerNo, deviceNo, name, isReported, now, others } = change
  const value = now[name] as Attributes[string]
  const isShadowed = isReported && Object.hasOwn(others, name)
  const zone = name === zoneAttribute ? zoneOf(value) : null
  return {
    ownerNo,
    deviceNo,
    name,
    isReported,
    value: JSON.stringify(value),
    sortKey: sortKeyOf(value),
    isShadowed,
    zone,
  }
}

function toZone({ ownerNo, deviceId, deviceNo, isReported, now, others }: AttributeChange): ZoneChange {
  const zone = isReported ? deviceZoneOf(others, now) : deviceZoneOf(now, others)
  return { ownerNo, deviceId, deviceNo, zone }
}

function isPut({ name, now }: { name: string; now: Attributes }): boolean {
  return Object.hasOwn(now, name)
}

type Entry = DeviceKey & { deviceNo: number; attributes: Attributes; before: Attributes; now: Attributes }

export const attributeWrites: WriteSteps<'recordAttributes'> = {
  async recordAttributes(queries, reports) {
    const entries = await readEntries(queries, reports)
    const outcomes = reports.map((report) => record(queries, entries.get(deviceText(report.device)), report))
    const changes = [...entries.values()].map(({ ownerNo, deviceId, deviceNo, attributes, before, now }) => {
      return { ownerNo, deviceId, deviceNo, isReported: true, before, now, others: attributes }
    })
    writeAttributes(queries, changes)
    const clock = reports.reduce((latest, report) => Math.max(latest, report.clock ?? 0), 0)
    const changed = changes.filter(({ before, now }) => changesOf(before, now).length > 0)
    await followDevices(queries, changed, steadyInstant(clock))
    return outcomes
  },
}

async function readEntries(queries: Writes, reports: AttributeReport[]): Promise<Map<string, Entry>> {
  const distinct = new Map(reports.map(({ device }) => [deviceText(device), device]))
  const keys = [...distinct.values()].map(({ ownerNo, deviceId }) => ({ ownerNo, deviceId }))
  const entries = new Map<string, Entry>()
  for (const row of await queries.all(REPORTING, LOCK, { keys, ...keysOf(keys) })) {
    const { ownerNo, deviceId, deviceNo } = row
    const { attributes, reportedAttributes: before } = toDevice(row)
    entries.set(deviceText(row), { ownerNo, deviceId, deviceNo, attributes, before, now: before })
  }
  return entries
}

function record(
  queries: Writes,
  entry: Entry | undefined,
  { changes, at }: AttributeReport,
): AttributeOutcome {
  if (entry === undefined) return { kind: 'unknown-device' }
  const merged = mergeReported(entry.now, changes)
  if (merged === undefined) return { kind: 'too-many' }
  entry.now = merged.now
  const { ownerNo, deviceNo } = entry
  if (Object.keys(merged.changed).length > 0) {
    queries.deviceChanged('device.updated', {
      ownerNo,
      deviceNo,
      at,
      details: { reportedAttributes: merged.changed },
    })
  }
  return { kind: 'recorded' }
}
