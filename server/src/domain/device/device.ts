// A device: a machine that runs executions. It has an id chosen by its owner, tags and attributes, a credential,
// and presence: whether it is connected. All devices of an owner are its fleet. This file has the owner's operations on
// devices.
//
// Read next: put-device.ts and attributes.ts, changes by a put or a report; device-credential.ts, its token and
// certificate; enrollment.ts and enroll-device.ts, how it gets its first one; judge-presence.ts, whether it is online;
// freeze-fleet.ts, read-fleet.ts, read-stats.ts, the fleet as a whole; import-devices.ts, many at once.

import { ApiError, type DeviceContent, devices } from '@jobcast/contract'
import { actorOf, type Caller } from '../access/caller.ts'
import { isConfinedToDevices } from '../access/restriction.ts'
import { type QuotaDeps, withinQuota } from '../access/within-quota.ts'
import { originOf } from '../audit/audit.ts'
import { type Expectation, isExpected } from '../common/entity-tag.ts'
import { notExpected } from '../common/not-found.ts'
import type { Put, Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { type NotifyDeps, notifyMoved } from '../execution/notify-moved.ts'
import { type DeviceWindowsDeps, windowsApply } from '../window/device-windows.ts'
import { noWindow } from '../window/window.ts'
import { fieldsOf } from './device-content.ts'
import { type CredentialDeps, disconnectDevice } from './device-credential.ts'
import type { DeviceKey } from './device-key.ts'
import { deviceTag } from './own-fields.ts'
import type { DeviceFilter, DevicePut, DevicePutResult, StoredDevice } from './ports/devices.ts'
import { listWithShownCursor } from './shown-cursor.ts'

/** Presence, including changes that are not written to the store yet. */
export type PresenceView = {
  /** Resolves once all changes are written. */
  settle(): Promise<void>
  /** Undefined if the device is not connected to this node. */
  lastSeenAt(device: DeviceKey): number | undefined
}

export type DeviceDeps = CredentialDeps &
  NotifyDeps &
  QuotaDeps & {
    store: Store
    /** Resolves once the device is on disk. */
    recordDevice: (put: DevicePut) => Promise<DevicePutResult>
    moment: () => Moment
    presence: PresenceView
    windows: DeviceWindowsDeps['windows']
  }

export async function putDevice(
  deps: DeviceDeps,
  caller: Caller,
  deviceId: string,
  content: DeviceContent & { keepsWindow?: true },
  ifMatch: Expectation = {},
): Promise<Put<StoredDevice>> {
  const { ownerNo } = caller
  const { at, clock } = deps.moment()
  const { keepsWindow } = content
  const fields = fieldsOf(deviceId, content)
  const wanted = {
    ownerNo,
    deviceId,
    ...fields,
    ...(keepsWindow && { keepsWindow }),
    at,
    clock,
    ...originOf(caller),
    ...ifMatch,
  }
  const { value, isWithoutWindow, ...put } = await withinQuota(
    deps,
    'devices',
    ownerNo,
    () => deps.recordDevice(wanted),
    {
      isCreated: (result) => result.created,
      mayReplace: async () => (await deps.store.getDevice({ ownerNo, deviceId })) !== undefined,
    },
  )
  if (isWithoutWindow) throw noWindow(fields.window ?? '')
  if (put.isRefused) throw notExpected(devices, deviceId, ifMatch)
  if (value.window !== null) await windowsApply(deps, ownerNo)
  return { ...put, value: asSeen(deps, ownerNo, value) }
}

export async function getDevice(
  deps: DeviceDeps,
  { ownerNo }: Caller,
  deviceId: string,
): Promise<StoredDevice> {
  await settled(deps.presence)
  const device = await deps.store.getDevice({ ownerNo, deviceId })
  if (device === undefined) throw new ApiError('J-001')
  return asSeen(deps, ownerNo, device)
}

export async function listDevices(
  deps: DeviceDeps,
  caller: Caller,
  filter: DeviceFilter,
  slice: Slice<string>,
): Promise<Sliced<StoredDevice, string>> {
  await settled(deps.presence)
  const { ownerNo } = caller
  const list = (part: Slice<string>) => deps.store.listDevices({ ownerNo, filter, slice: part })
  const { items, next } = await (isConfinedToDevices(caller) ? listWithShownCursor(list, slice) : list(slice))
  return { items: items.map((device) => asSeen(deps, ownerNo, device)), next }
}

/** Also cancels its unfinished executions. */
export async function deleteDevice(
  deps: DeviceDeps,
  caller: Caller,
  deviceId: string,
  { expected }: Expectation = {},
): Promise<void> {
  if (expected && !isExpected(expected, deviceTag(await getDevice(deps, caller, deviceId)))) {
    throw new ApiError('J-312')
  }
  const { ownerNo } = caller
  const moved = await deps.store.deleteDevice({
    ownerNo,
    deviceId,
    moment: deps.moment(),
    actor: actorOf(caller),
    ...originOf(caller),
  })
  if (moved === undefined) throw new ApiError('J-001')
  disconnectDevice(deps, { ownerNo, deviceId })
  notifyMoved(deps, moved)
}

/** If the storage cannot be written, reads continue with the last stored presence. */
export function settled(presence: PresenceView): Promise<void> {
  return presence.settle().catch(() => undefined)
}

/** lastSeenAt of a connected device is written only occasionally, so the value in memory is newer. */
function asSeen({ presence }: DeviceDeps, ownerNo: number, device: StoredDevice): StoredDevice {
  if (!device.presence.online) return device
  const seenAt = presence.lastSeenAt({ ownerNo, deviceId: device.deviceId })
  return seenAt === undefined ? device : { ...device, presence: { ...device.presence, lastSeenAt: seenAt } }
}
