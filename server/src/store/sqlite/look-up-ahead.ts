// Looks up the devices of a large trigger in slices, and releases the event loop in between. The result is valid if no device of
// the owner was created, deleted or renamed meanwhile; otherwise all are looked up again at once.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Trigger } from '../../domain/trigger/trigger.ts'
import type { Catalogue, DeviceRef } from './catalogue.ts'

const sliceSize = 2500

/** Devices by position in the list of the trigger. */
export type FoundAhead = { devices: (DeviceRef | undefined)[]; changes: number }

export async function lookUpAhead(
  catalogue: Catalogue,
  { ownerNo, deviceIds }: Trigger,
): Promise<FoundAhead> {
  const known = catalogue.devices(ownerNo)
  const { changes } = known
  const devices: (DeviceRef | undefined)[] = []
  await nextTurn()
  while (devices.length < deviceIds.length && known.changes === changes) {
    const end = Math.min(devices.length + sliceSize, deviceIds.length)
    for (let at = devices.length; at < end; at++) devices.push(known.get(deviceIds[at] as string))
    await nextTurn()
  }
  return { devices, changes }
}
