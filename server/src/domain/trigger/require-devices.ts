// Checks that all listed devices exist for a caller restricted to devices.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { devicesWithin, type ReachDeps, reachOf } from '../access/device-reach.ts'
import { namedDevices } from './launch-run.ts'

/** Throws J-001, as the trigger does for unknown devices. */
export async function requireDevices(
  deps: ReachDeps,
  caller: Pick<Caller, 'ownerNo' | 'restriction'>,
  deviceIds: readonly string[],
): Promise<void> {
  const reach = reachOf(caller)
  if (reach === undefined) return
  const within = await devicesWithin(deps, caller, reach, deviceIds)
  const missing = new Set(deviceIds.filter((deviceId) => !within.has(deviceId)))
  if (missing.size > 0) throw new ApiError('J-001', { deviceIds: [...missing].slice(0, namedDevices) })
}
