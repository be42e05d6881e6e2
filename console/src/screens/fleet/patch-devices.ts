// What events change on the map, without reading it again.

import type { FleetDevice, JobcastEvent } from '@jobcast/client'

/** The same list if nothing on it has changed. */
export function patchDevices(devices: FleetDevice[], events: JobcastEvent[]): FleetDevice[] {
  const changes = Map.groupBy(
    events.map(changeOf).filter((change) => change !== undefined),
    ({ deviceId }) => deviceId,
  )
  if (changes.size === 0) return devices
  return devices.map((device) => changes.get(device.deviceId)?.reduce(applied, device) ?? device)
}

type Change = Partial<FleetDevice> & { deviceId: string }

/** Of two executions that move, the one that was launched last counts. */
function applied(device: FleetDevice, change: Change): FleetDevice {
  const isOlder =
    change.lastExecution && change.lastExecution.jobExecutionId < (device.lastExecution?.jobExecutionId ?? 0)
  return { ...device, ...change, ...(isOlder && { lastExecution: device.lastExecution }) }
}

function changeOf(event: JobcastEvent): Change | undefined {
  if (event.type === 'device.online' || event.type === 'device.offline')
    return { deviceId: event.data.deviceId, online: event.type === 'device.online' }
  if (!('jobExecutionId' in event.data)) return undefined
  const { deviceId, jobExecutionId, execState } = event.data
  return { deviceId, lastExecution: { jobExecutionId, execState } }
}
