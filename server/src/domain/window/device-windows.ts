// Windows of devices and groups, as their owners change them.

import type { BothClocks } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'

export type DeviceWindowsDeps = {
  store: Pick<Store, 'sweepGroups'>
  moment: () => BothClocks
  windows: {
    /** Takes effect on all nodes. */
    changed(): Promise<void>
    /** Some devices of this owner have windows, as far as this node knows. */
    applyToDevices(ownerNo: number): boolean
  }
}

/** So long a call waits until all devices are judged; the rest is done in the background. */
const mostWaitMs = 5000

/** A group was put or deleted: finds out which devices are in it. */
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

/** From now on nothing is announced to devices of this owner without a look into the store. */
export async function windowsApply(
  { windows }: Pick<DeviceWindowsDeps, 'windows'>,
  ownerNo: number,
): Promise<void> {
  if (!windows.applyToDevices(ownerNo)) await windows.changed()
}
