// Applies changes that owners make to the windows of devices and groups.

import type { BothClocks } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'

export type DeviceWindowsDeps = {
  store: Pick<Store, 'sweepGroups'>
  moment: () => BothClocks
  windows: {
    /** Takes effect on all nodes. */
    changed(): Promise<void>
    /** Whether some devices of this owner have windows, as far as this node knows. */
    applyToDevices(ownerNo: number): boolean
  }
}

/** How long a call waits for all devices to be judged; the rest is done in the background. */
const mostWaitMs = 5000

/** After a group was put or deleted: determines which devices are in it. */
export async function settleGroups(deps: DeviceWindowsDeps, ownerNo: number): Promise<void> {
  const { store, moment } = deps
  const begin = moment().clock
  let hasSwept = false
  while (await store.sweepGroups({ ownerNo, clock: moment().clock })) {
    hasSwept = true
    if (moment().clock - begin > mostWaitMs) break
  }
  if (hasSwept) await deps.windows.changed()
}

/** From now on, devices of this owner are notified only after the store was asked for their windows. */
export async function windowsApply(
  { windows }: Pick<DeviceWindowsDeps, 'windows'>,
  ownerNo: number,
): Promise<void> {
  if (!windows.applyToDevices(ownerNo)) await windows.changed()
}
