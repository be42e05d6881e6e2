// The groups with windows that devices belong to, updated when devices or groups change. A device is checked in the transaction
// that changes it. When a group changes, all devices of its owner are checked in batches. The progress is stored as a row, so that
// any node can continue after a crash.

import type { SteadyInstant } from '../../domain/common/instants.ts'
import {
  groupWindowsOf,
  type JudgedGroup,
  readGroupWindows,
  refersTo,
  type WindowedGroup,
} from '../../domain/window/group-windows.ts'
import { inBoth, type Writes } from '../queries.ts'
import { notNull, select } from '../schema/column.ts'
import { device, deviceGroup, groupSweep } from '../schema/tables.ts'
import { deviceChangeReads } from './device-changes.ts'
import { type NumberedDevice, setWindows } from './device-windows.ts'
import type { WriteSteps } from './step.ts'

/** Devices per transaction, which takes some milliseconds; fewer if many terms are compared. */
const sweptAtOnce = 500
const comparedAtOnce = 400_000
/** The limit of the column. */
const largestOwnerNo = 2 ** 31 - 1

const WITH_WINDOW = select({
  ...deviceGroup.pick('groupName', 'where'),
  windowName: notNull(deviceGroup.fields.window),
})
const LIST_WITH_WINDOW = inBoth(
  ({ by }) => `
  SELECT ${WITH_WINDOW} FROM device_group ${by('device_group_with_window')}
  WHERE owner_no = :ownerNo AND window_name IS NOT NULL`,
)

const GROUP = select(deviceGroup.pick('groupName', 'where'))
const FIND_GROUPS = inBoth(
  ({ isIn }) => `
  SELECT ${GROUP} FROM device_group WHERE owner_no = :ownerNo AND ${isIn('group_name', 'groupNames', 'text')}`,
)

/**
 * Updates the windows of devices that changed at `clock`; `own`: the new window of the device itself, if it changed. Without
 * groups that have windows, this is one index lookup.
 */
export async function followDevices(
  queries: Writes,
  changed: (NumberedDevice & { own?: string | null })[],
  clock: SteadyInstant,
): Promise<void> {
  for (const [ownerNo, devices] of Map.groupBy(changed, (each) => each.ownerNo)) {
    const groups = await queries.all(WITH_WINDOW, LIST_WITH_WINDOW, { ownerNo })
    if (groups.length > 0) {
      await judgeDevices(queries, ownerNo, await readGroups(queries, ownerNo, groups), devices, clock)
    } else {
      const own = devices.filter((each) => each.own !== undefined)
      if (own.length > 0) await setWindows(queries, own, clock)
    }
  }
}

function readGroups(queries: Writes, ownerNo: number, groups: WindowedGroup[]): Promise<JudgedGroup[]> {
  return readGroupWindows(groups, (groupNames) => queries.all(GROUP, FIND_GROUPS, { ownerNo, groupNames }))
}

async function judgeDevices(
  queries: Writes,
  ownerNo: number,
  judged: JudgedGroup[],
  devices: (NumberedDevice & { own?: string | null })[],
  clock: SteadyInstant,
): Promise<void> {
  const deviceNos = devices.map(({ deviceNo }) => deviceNo)
  const selectable = await deviceChangeReads.listSelectable(queries, { ownerNo, deviceNos })
  const byNo = new Map(selectable.map((each) => [each.deviceNo, each]))
  const wanted = devices.map((each) => {
    const found = byNo.get(each.deviceNo)
    return { ...each, ofGroups: found ? groupWindowsOf(found, judged) : [] }
  })
  await setWindows(queries, wanted, clock)
}

const BEGIN_SWEEP = `
  INSERT INTO group_sweep (owner_no, after_device_id) VALUES (:ownerNo, '')
  ON CONFLICT (owner_no) DO UPDATE SET after_device_id = ''`

/**
 * Call before a group is put or deleted. `hasWindow`: before or after the change. A group without a window matters only for groups
 * that refer to it, and the change does not affect which ones do.
 */
export async function noteGroupChanged(
  queries: Writes,
  { ownerNo, groupName, hasWindow }: { ownerNo: number; groupName: string; hasWindow: boolean },
): Promise<void> {
  if (hasWindow || (await isInWindowed(queries, ownerNo, groupName)))
    await queries.run(BEGIN_SWEEP, { ownerNo })
}

async function isInWindowed(queries: Writes, ownerNo: number, groupName: string): Promise<boolean> {
  const groups = await queries.all(WITH_WINDOW, LIST_WITH_WINDOW, { ownerNo })
  return refersTo(groupName, groups, (groupNames) => queries.all(GROUP, FIND_GROUPS, { ownerNo, groupNames }))
}

const SWEEP = select(groupSweep.fields)
const FIND_SWEEP = inBoth(
  ({ lock }) => `
  SELECT ${SWEEP} FROM group_sweep WHERE owner_no BETWEEN :first AND :last
  ORDER BY owner_no LIMIT 1 ${lock}`,
)
const SWEPT = select(device.pick('ownerNo', 'deviceId', 'deviceNo'))
// In the order of the ids, like puts, to prevent deadlocks.
const LOCK_DEVICES = inBoth(
  ({ lock }) => `
  SELECT ${SWEPT} FROM device WHERE owner_no = :ownerNo AND device_id > :after AND deleted_at IS NULL
  ORDER BY device_id LIMIT :limit ${lock}`,
)
const GO_ON = 'UPDATE group_sweep SET after_device_id = :after WHERE owner_no = :ownerNo'
const END_SWEEP = 'DELETE FROM group_sweep WHERE owner_no = :ownerNo'

export const groupWindowWrites: WriteSteps<'sweepGroups'> = {
  async sweepGroups(queries, { ownerNo: asked, clock }) {
    const owners = { first: asked ?? 0, last: asked ?? largestOwnerNo }
    const sweep = await queries.get(SWEEP, FIND_SWEEP, owners)
    if (sweep === undefined) return false
    const { ownerNo, afterDeviceId: after } = sweep
    const groups = await queries.all(WITH_WINDOW, LIST_WITH_WINDOW, { ownerNo })
    const judged = await readGroups(queries, ownerNo, groups)
    const terms = judged.reduce((sum, each) => sum + each.terms, 1)
    const limit = Math.max(1, Math.min(sweptAtOnce, Math.floor(comparedAtOnce / terms)))
    const devices = await queries.all(SWEPT, LOCK_DEVICES, { ownerNo, after, limit })
    await judgeDevices(queries, ownerNo, judged, devices, clock)
    const last = devices.at(-1)
    if (last && devices.length === limit) queries.send(GO_ON, { ownerNo, after: last.deviceId })
    else queries.send(END_SWEEP, { ownerNo })
    return true
  },
}
