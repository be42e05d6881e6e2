// The part of the store's port for the windows of devices: their own, and those of their groups. All of them must be open
// for a device to be offered work. Membership in groups is computed when a device or group changes, and stored, so that
// offering work reads rows and evaluates no selectors.

import type { SteadyInstant } from '../../common/instants.ts'
import type { Sliced } from '../../common/ports/slices.ts'
import type { DeviceKey } from '../../device/device-key.ts'
import type { WindowKey } from './windows.ts'

/** `groupName`: null if it is the device's own. */
type DeviceWindow = { deviceId: string; windowName: string; groupName: string | null }

export type DeviceWindowStore = {
  /** The windows that apply to these devices, in any order. */
  listDeviceWindows(devices: { ownerNo: number; deviceIds: string[] }): Promise<DeviceWindow[]>
  /** Names of the windows that apply to any device of the owner. */
  listUsedWindows(owner: { ownerNo: number }): Promise<string[]>
  /** Devices to which the window applies, in the order of their numbers; `zones`: only those in these zones. */
  listWindowDevices(
    list: WindowKey & { zones?: string[] | undefined; after: number; limit: number },
  ): Promise<Sliced<DeviceKey, number>>
  /**
   * After groups of this owner (undefined: of any) have changed: judges the next batch of devices. False: none were left.
   */
  sweepGroups(sweep: { ownerNo?: number; clock: SteadyInstant }): Promise<boolean>
}
