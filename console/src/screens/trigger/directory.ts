// All devices with their state, for searching, counting and detecting unknown names.

import type { FleetDevice, JobcastEvent } from '@jobcast/client'
import { useMemo } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { queryCache } from '../../api/query-cache.ts'
import { useQuery } from '../../api/use-query.ts'
import { useEvents } from '../../live/live-events.ts'
import { patchDevices } from '../fleet/patch-devices.ts'

export type Directory = {
  devices: FleetDevice[]
  byId: Map<string, FleetDevice>
  isRead: boolean
  error: unknown
}

export function useDirectory(enabled: boolean): Directory {
  const { data, error } = useQuery({ ...queries.allFleetDevices(), enabled })
  useEvents(takeEvents)
  const devices = data ?? none
  const byId = useMemo(() => new Map(devices.map((device) => [device.deviceId, device])), [devices])
  return { devices, byId, isRead: data !== undefined, error }
}

const none: FleetDevice[] = []

function takeEvents(events: JobcastEvent[]): void {
  queryCache.patch<FleetDevice[]>(queries.allFleetDevices().queryKey, (devices) =>
    patchDevices(devices, events),
  )
}

/** The device is running an execution, by the server's definition, which excludes waiting executions. */
export function isBusy({ running }: FleetDevice): boolean {
  return running !== null
}

type SelectionCounts = { online: number; offline: number; busy: number; unknown: number }

export function countSelection(
  selected: ReadonlySet<string>,
  byId: Map<string, FleetDevice>,
): SelectionCounts {
  const counts: SelectionCounts = { online: 0, offline: 0, busy: 0, unknown: 0 }
  for (const deviceId of selected) {
    const device = byId.get(deviceId)
    if (device === undefined) counts.unknown++
    else {
      counts[device.online ? 'online' : 'offline']++
      if (isBusy(device)) counts.busy++
    }
  }
  return counts
}
