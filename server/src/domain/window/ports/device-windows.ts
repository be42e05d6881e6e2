// The part of the store's port for the windows of devices: their own, and those of the groups they are in. All of them must be
// open for a device to be offered work. Which groups a device is in is judged where the device or a group changes, and written
// down, so that whoever offers work reads rows and no selectors.

import type { SteadyInstant } from '../../common/instants.ts'
import type { Sliced } from '../../common/ports/slices.ts'
import type { DeviceKey } from '../../device/device-key.ts'
import type { WindowKey } from './windows.ts'

/** `groupName`: null if it is the device's own. */
type DeviceWindow = { deviceId: string; windowName: string; groupName: string | null }

export type DeviceWindowStore = {
  /** Those that apply to these devices, in any order. */
  listDeviceWindows(devices: { ownerNo: number; deviceIds: string[] }): Promise<DeviceWindow[]>
  /** Names of the windows that apply to any device of the owner. */
  listUsedWindows(owner: { ownerNo: number }): Promise<string[]>
  /** Devices to which it applies, by their numbers; `zones`: only those in these zones. */
  listWindowDevices(
    list: WindowKey & { zones?: string[] | undefined; after: number; limit: number },
  ): Promise<Sliced<DeviceKey, number>>
  /**
   * Groups of this owner (undefined: of any) have changed: judges the next batch of its devices. False: there was none left.
   */
  sweepGroups(sweep: { ownerNo?: number; clock: SteadyInstant }): Promise<boolean>
}
