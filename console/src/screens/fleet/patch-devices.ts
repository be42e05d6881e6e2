// Applies events to the map, without reading it again.

import { type FleetDevice, isEnd, type JobcastEvent } from '@jobcast/client'

/** Returns the same list if nothing has changed. */
export function patchDevices(devices: FleetDevice[], events: JobcastEvent[]): FleetDevice[] {
  const changes = Map.groupBy(
    events.map(changeOf).filter((change) => change !== undefined),
    ({ deviceId }) => deviceId,
  )
  if (changes.size === 0) return devices
  return devices.map((device) => changes.get(device.deviceId)?.reduce(applied, device) ?? device)
}

type Change = { deviceId: string; online?: boolean; execution?: NonNullable<FleetDevice['running']> }

/** The latest execution applies, except that a running one takes precedence. */
function applied(device: FleetDevice, { online = device.online, execution }: Change): FleetDevice {
  if (execution === undefined) return { ...device, online }
  const { lastExecution, lastEnded, running } = device
  const hasEnded = isEnd(execution.execState) && execution.jobExecutionId >= (lastEnded?.jobExecutionId ?? 0)
  const isLast = execution.jobExecutionId >= (lastExecution?.jobExecutionId ?? 0)
  const runs = execution.execState === 'IN_PROGRESS' || execution.execState === 'CANCELING'
  const wasRunning = running?.jobExecutionId === execution.jobExecutionId
  return {
    ...device,
    online,
    lastExecution: isLast ? execution : lastExecution,
    lastEnded: hasEnded ? execution : lastEnded,
    running: runs ? execution : wasRunning ? null : running,
  }
}

function changeOf(event: JobcastEvent): Change | undefined {
  if (event.type === 'device.online' || event.type === 'device.offline')
    return { deviceId: event.data.deviceId, online: event.type === 'device.online' }
  if (!('jobExecutionId' in event.data)) return undefined
  const { deviceId, jobExecutionId, execState } = event.data
  return { deviceId, execution: { jobExecutionId, execState } }
}
