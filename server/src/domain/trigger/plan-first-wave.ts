// Warns about a first wave whose gate stays closed for now, because too few of its devices are online.

import type { Rollout } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { gateOf } from '../rollout/gate.ts'
import type { ArrangedDevices } from '../rollout/run-release.ts'
import { launchedAtOnce, type SelectDeps } from '../selector/select-devices.ts'

export async function findFirstWaveProblems(
  deps: Pick<SelectDeps, 'store'>,
  caller: Caller,
  rollout: Rollout,
  arranged: ArrangedDevices,
): Promise<string[]> {
  const [size = 0, ...others] = arranged.sizes
  if (others.length === 0) return []
  const { needed } = gateOf(rollout, { size, wave: {}, confirmed: 0, accepted: 0 })
  const online = await countOnline(deps, caller, arranged, size)
  if (online >= needed) return []
  const isOnline = online === 0 ? 'none is' : online === 1 ? 'only 1 is' : `only ${online} are`
  return [
    `The gate of the first wave needs ${needed} of ${size} ${size === 1 ? 'device' : 'devices'} to succeed, ` +
      `but ${isOnline} online now: the next wave waits until more come online.`,
  ]
}

/** Of the first `size` devices. */
async function countOnline(
  { store }: Pick<SelectDeps, 'store'>,
  { ownerNo }: Caller,
  { deviceIds, deviceNos }: ArrangedDevices,
  size: number,
): Promise<number> {
  if (deviceIds) {
    const values = deviceIds.slice(0, size)
    const where = { kind: 'in', name: 'deviceId', values } as const
    return (await store.countDevices({ ownerNo, where })).online
  }
  let online = 0
  for (let start = 0; start < size; start += launchedAtOnce) {
    const some = [...deviceNos.subarray(start, Math.min(size, start + launchedAtOnce))]
    const found = await store.listSelectable({ ownerNo, deviceNos: some })
    online += found.filter((device) => device.online).length
  }
  return online
}
