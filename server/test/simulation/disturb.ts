// The faults of a simulation and their times.

import { replaceDevice } from './replace-device.ts'
import type { CallerKey } from './tenant.ts'
import type { World } from './world.ts'

export async function disturb(world: World): Promise<void> {
  const { random, time, tenants } = world
  while (!world.isQuiet) {
    await time.sleep(random.below(1500))
    if (world.isQuiet) return
    const what = random.below(10)
    const tenant = random.pick(tenants)
    const device = random.pick(tenant.devices)
    const [{ caller }] = tenant.keys as [CallerKey]
    if (what < 1 && !world.node.isKilled) world.killNode(random.below(2000))
    else if (what < 2) world.disturbStorage('bad', random.below(1000))
    else if (what < 3) world.disturbStorage('slow', random.below(2000))
    else if (what < 5) void replaceDevice(world, caller, device.device.deviceId)
    else device.disturb?.()
  }
}
