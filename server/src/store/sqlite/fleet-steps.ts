// What the store says of the fleet as a whole: the database knows what has begun, memory what waits for each device.

import type { FleetStore, StoredFleetDevice } from '../../domain/fleet-store.ts'
import type { Catalogue } from './catalogue.ts'
import type { ReaderThread } from './database-thread.ts'

type FleetSteps = Pick<FleetStore, 'getFleetLevels' | 'listFleetDevices'>

export function buildFleetSteps(catalogue: Catalogue, reader: ReaderThread): FleetSteps {
  /** Whatever is in the queue and behind all that has begun has not begun. */
  function withWaiting(ownerNo: number, device: StoredFleetDevice): StoredFleetDevice {
    const newest = catalogue.devices(ownerNo).getOnDisk(device.deviceId)?.queue.newest
    if (newest === undefined || newest <= (device.lastExecution?.jobExecutionId ?? 0)) return device
    return { ...device, lastExecution: { jobExecutionId: newest, execState: 'PENDING' } }
  }

  return {
    async getFleetLevels({ ownerNo }) {
      const levels = await reader.call('readLevels', { ownerNo })
      return { devices: catalogue.devices(ownerNo).size, ...levels }
    },
    async listFleetDevices({ ownerNo, slice }) {
      const { items, next } = await reader.call('listFleetDevices', { ownerNo, slice })
      return { items: items.map((device) => withWaiting(ownerNo, device)), next }
    },
  }
}
