// The windows of devices (domain/window/ports/device-windows.ts). Ended assignments are kept for some time, because time limits
// do not run for executions that they have held back (store/holders.ts).

import type { SteadyInstant } from '../../domain/common/instants.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { GroupWindow } from '../../domain/window/group-windows.ts'
import { inBoth, insertInto, type Queries, type Spelling, sliced, type Writes } from '../queries.ts'
import { computed, number, orNull, rows, select, text } from '../schema/column.ts'
import { device, deviceGroup, deviceWindow } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps } from './step.ts'

/** Stands for the window of the device itself. */
const ownGroup = ''
/** Maximum number of ended assignments per device. */
const mostEnded = 100

/** For statements on the table device. */
export const OWN_WINDOW = computed(
  `(SELECT window_name FROM device_window
    WHERE device_window.device_no = device.device_no AND group_name = '${ownGroup}' AND until_clock IS NULL)`,
  orNull(text()),
)

const USED = rows(deviceWindow.pick('windowName'))
const nextUsed = (by: string, after: string) =>
  `
  SELECT window_name FROM device_window ${by}
  WHERE owner_no = :ownerNo AND until_clock IS NULL AND window_name > ${after} ORDER BY window_name LIMIT 1` as const
// Searches from each name to the next, because there are few names, however many devices.
const LIST_USED = inBoth(({ by }) => {
  const current = by('device_window_current')
  return `
  WITH RECURSIVE found (window_name) AS (
    SELECT * FROM (${nextUsed(current, "''")}) AS first
    UNION ALL
    SELECT (${nextUsed(current, 'found.window_name')}) FROM found WHERE found.window_name IS NOT NULL)
  SELECT window_name AS "windowName" FROM found WHERE window_name IS NOT NULL` as const
})
const OF_DEVICE = select({ ...device.pick('deviceId'), ...deviceWindow.pick('windowName', 'groupName') })
const LIST_OF_DEVICES = inBoth(
  ({ join, isIn }) => `
  SELECT ${OF_DEVICE} FROM device ${join} device_window ON device_window.device_no = device.device_no
  WHERE device.owner_no = :ownerNo AND ${isIn('device_id', 'deviceIds', 'text')} AND deleted_at IS NULL
    AND until_clock IS NULL`,
)
const UNDER = select({ ...device.pick('ownerNo', 'deviceId'), ...deviceWindow.pick('deviceNo') })
const inZone = (isShadowed: string) => `coalesce((
  SELECT zone FROM device_attribute
  WHERE device_attribute.device_no = device.device_no AND name = 'timeZone' AND ${isShadowed}), 'UTC')`
const under = <Zones extends string>(inZones: (spelling: Spelling) => Zones) =>
  inBoth(
    (spelling) =>
      `
  SELECT ${UNDER} FROM device_window ${spelling.by('device_window_current')}
    ${spelling.join} device ON device.device_no = device_window.device_no
  WHERE device_window.owner_no = :ownerNo AND window_name = :windowName AND until_clock IS NULL
    AND device_window.device_no > :after ${inZones(spelling)}
  ORDER BY device_window.device_no LIMIT :limit` as const,
  )
const UNDER_ANYWHERE = under(() => '')
const UNDER_IN_ZONES = under(({ is, isIn }) => {
  const zone = inZone(is === 'sqlite' ? 'shadowed = 0' : 'NOT shadowed')
  return `AND ${isIn(zone, 'zones', 'text')}` as const
})

export const deviceWindowReads: ReadSteps<'listDeviceWindows' | 'listUsedWindows' | 'listWindowDevices'> = {
  async listDeviceWindows(queries, devices) {
    const found = await queries.all(OF_DEVICE, LIST_OF_DEVICES, partOf(LIST_OF_DEVICES, devices))
    return found.map(({ groupName, ...each }) => ({ ...each, groupName: groupName || null }))
  },
  async listUsedWindows(queries, { ownerNo }) {
    return (await queries.all(USED, LIST_USED, { ownerNo })).map(({ windowName }) => windowName)
  },
  async listWindowDevices(queries, { zones, limit, ...list }) {
    const one = { ...list, limit: limit + 1 }
    const found =
      zones === undefined
        ? await queries.all(UNDER, UNDER_ANYWHERE, partOf(UNDER_ANYWHERE, one))
        : await queries.all(UNDER, UNDER_IN_ZONES, partOf(UNDER_IN_ZONES, { ...one, zones }))
    const { items, next } = sliced(found, limit, ({ deviceNo }) => deviceNo)
    // A device in several groups with this window is returned several times.
    const devices = new Map(items.map(({ ownerNo, deviceId, deviceNo }) => [deviceNo, { ownerNo, deviceId }]))
    return { items: [...devices.values()], next }
  },
}

const ROW = select(deviceWindow.fields)
const LIST_ROWS = inBoth(
  ({ isIn }) => `
  SELECT ${ROW} FROM device_window WHERE ${isIn('device_no', 'deviceNos', 'integer')}
  ORDER BY device_no, group_name, since_clock`,
)
const insert = insertInto(deviceWindow.fields)
const replacing = `ON CONFLICT (device_no, group_name, since_clock)
  DO UPDATE SET window_name = excluded.window_name, until_clock = excluded.until_clock`
const PUT: typeof insert = {
  sqlite: `${insert.sqlite} ${replacing}`,
  postgres: `${insert.postgres} ${replacing}`,
}
const key = deviceWindow.pick('deviceNo', 'groupName', 'since')
const DROP = inBoth(
  ({ is, field, records }) => `
  DELETE FROM device_window ${is === 'sqlite' ? '' : `USING ${records('rows', key)}`}
  WHERE device_window.device_no = ${field('deviceNo')} AND device_window.group_name = ${field('groupName')}
    AND device_window.since_clock = ${field('since')}`,
)
const DROP_ALL = 'DELETE FROM device_window WHERE device_no = :deviceNo'

type Row = ReturnType<typeof ROW.read>
export type NumberedDevice = DeviceKey & { deviceNo: number }
/** `own`: undefined leaves it unchanged, null removes it. `ofGroups`: undefined leaves the windows of all groups unchanged. */
type Wanted = NumberedDevice & { own?: string | null; ofGroups?: GroupWindow[] | undefined }

/** The caller must have locked the devices. */
export async function setWindows(queries: Writes, wanted: Wanted[], clock: SteadyInstant): Promise<void> {
  const found = await queries.all(ROW, LIST_ROWS, { deviceNos: wanted.map(({ deviceNo }) => deviceNo) })
  const rowsOf = Map.groupBy(found, ({ deviceNo }) => deviceNo)
  const [put, dropped]: [Row[], Pick<Row, 'deviceNo' | 'groupName' | 'since'>[]] = [[], []]
  const changed: (NumberedDevice & { windows: string[] })[] = []
  for (const each of wanted) {
    const { ownerNo, deviceId, deviceNo } = each
    const known = rowsOf.get(deviceNo) ?? []
    const current = known.filter(({ until }) => until === null)
    const next = nextOf(each, current)
    const isKept = ({ groupName, windowName }: Row) => next.get(groupName) === windowName
    const over = current.filter((row) => !isKept(row))
    const kept = new Set(current.filter(isKept).map(({ groupName }) => groupName))
    const fresh = [...next].filter(([groupName]) => !kept.has(groupName))
    if (over.length + fresh.length === 0) continue
    const ended = known.filter(({ until }) => until !== null).sort((one, other) => one.since - other.since)
    const excess = ended.slice(0, Math.max(0, ended.length + over.length - mostEnded))
    // Assignments of no duration cannot have held anything back.
    const unused = over.filter(({ since }) => since >= clock)
    dropped.push(...[...excess, ...unused].map(({ groupName, since }) => ({ deviceNo, groupName, since })))
    put.push(...over.filter(({ since }) => since < clock).map((row) => ({ ...row, until: clock })))
    put.push(
      ...fresh.map(([groupName, windowName]) => {
        return { ownerNo, deviceNo, groupName, windowName, since: clock, until: null }
      }),
    )
    changed.push({ ownerNo, deviceId, deviceNo, windows: [...new Set(next.values())].sort() })
  }
  queries.sendRows(DROP, dropped)
  queries.sendRows(PUT, put)
  if (changed.length > 0) queries.zonesChanged(changed)
}

/** Windows by group. */
function nextOf({ own, ofGroups }: Wanted, current: Row[]): Map<string, string> {
  const [ownRows, groupRows] = [
    current.filter(({ groupName }) => groupName === ownGroup),
    current.filter(({ groupName }) => groupName !== ownGroup),
  ]
  const ownNext = own === undefined ? ownRows : own === null ? [] : [{ groupName: ownGroup, windowName: own }]
  return new Map(
    [...ownNext, ...(ofGroups ?? groupRows)].map(({ groupName, windowName }) => [groupName, windowName]),
  )
}

export function dropDeviceWindows(queries: Writes, device: NumberedDevice): void {
  queries.send(DROP_ALL, { deviceNo: device.deviceNo })
  queries.zonesChanged([{ ...device, windows: [] }])
}

const COUNT = rows({ count: number() })
const USER = select(device.pick('deviceId'))
const COUNT_OWN = inBoth(
  ({ by }) => `
  SELECT count(*) AS count FROM device_window ${by('device_window_current')}
  WHERE owner_no = :ownerNo AND window_name = :windowName AND until_clock IS NULL AND group_name = '${ownGroup}'`,
)
const NAME_OWN = inBoth(
  ({ by, join }) => `
  SELECT ${USER} FROM device_window ${by('device_window_current')}
    ${join} device ON device.device_no = device_window.device_no
  WHERE device_window.owner_no = :ownerNo AND window_name = :windowName AND until_clock IS NULL
    AND group_name = '${ownGroup}'
  ORDER BY device_window.device_no LIMIT :limit`,
)
const GROUP_USER = select(deviceGroup.pick('groupName'))
const USED_BY_GROUPS = inBoth(
  ({ by }) => `
  SELECT ${GROUP_USER} FROM device_group ${by('device_group_with_window')}
  WHERE owner_no = :ownerNo AND window_name IS NOT NULL AND window_name = :windowName
  ORDER BY group_name LIMIT :limit`,
)

/** Users of a window: the number of devices with this own window, the first of them, and the first groups. */
export async function findWindowUsers(
  queries: Queries,
  window: { ownerNo: number; windowName: string },
  limit: number,
): Promise<{ deviceIds: string[]; devices: number; groupNames: string[] }> {
  const { ownerNo, windowName } = window
  const { count } = await queries.one(COUNT, COUNT_OWN, { ownerNo, windowName })
  const named = count === 0 ? [] : await queries.all(USER, NAME_OWN, { ownerNo, windowName, limit })
  const groups = await queries.all(GROUP_USER, USED_BY_GROUPS, { ownerNo, windowName, limit })
  return {
    deviceIds: named.map(({ deviceId }) => deviceId),
    devices: count,
    groupNames: groups.map(({ groupName }) => groupName),
  }
}

/** Rows deleted at once. */
const purgedAtOnce = 1000
const purge = <Condition extends string>(condition: Condition) =>
  inBoth(
    ({ by }) =>
      `
  DELETE FROM device_window WHERE (device_no, group_name, since_clock) IN (
    SELECT device_no, group_name, since_clock FROM device_window ${by('device_window_until')}
    WHERE owner_no = :ownerNo AND ${condition})` as const,
  )
const PURGE = purge(`until_clock < :before LIMIT ${purgedAtOnce}` as const)
// Without the window's history these rows have no meaning, and would never be purged.
const DELETE_ENDED = purge('until_clock IS NOT NULL AND window_name = :windowName')

/** Purges assignments of an owner that ended before this instant. */
export async function purgeDeviceWindows(queries: Writes, ownerNo: number, before: number): Promise<void> {
  await queries.run(PURGE, { ownerNo, before })
}

export async function deleteDeviceWindows(
  queries: Writes,
  { ownerNo, windowName }: { ownerNo: number; windowName: string },
): Promise<void> {
  await queries.run(DELETE_ENDED, { ownerNo, windowName })
}
