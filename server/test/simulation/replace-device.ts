// Deletes a device in any state, and creates it again; both are repeated until they succeed.

import { ApiError } from '@jobcast/contract'
import type { Caller } from '../../src/domain/access/caller.ts'
import { deleteDevice, putDevice } from '../../src/domain/device/device.ts'
import { deviceText } from '../../src/domain/device/ports/device-link.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { World } from './world.ts'

export async function replaceDevice(world: World, caller: Caller, deviceId: string): Promise<void> {
  const { time, random, deleted } = world
  const name = deviceText({ ownerNo: caller.ownerNo, deviceId })
  if (deleted.has(name)) return
  deleted.add(name)
  const repeat = async (work: (node: SimulatedNode) => Promise<unknown>) => {
    for (;;) {
      const node = await world.running()
      const isDone = await node.answer(work(node)).then(
        () => true,
        // It may have been deleted by the call before.
        (error) => error instanceof ApiError,
      )
      if (isDone) return
      await time.sleep(100)
    }
  }
  await repeat(({ parts }) => deleteDevice(parts, caller, deviceId))
  await time.sleep(random.below(random.pick([20, 800])))
  await repeat(({ parts }) => putDevice(parts, caller, deviceId, { deviceName: `${time.elapsed}` }))
  deleted.delete(name)
}
