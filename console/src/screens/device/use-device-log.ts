// The events of a device: from the event log, then from the event stream of this tab.

import type { Device, JobcastEvent } from '@jobcast/client'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { useEvents } from '../../live/live-events.ts'

export type PresenceChange = { at: number; online: boolean }
export type DeviceEvent = Extract<JobcastEvent, { type: `device.${string}` }>

/** The event stream has no end, so it is closed after this time without an event. A million events take about 9 s. */
const silenceMs = 20_000
/** Shorter, because few events follow after the log has reached the change to the current state. */
const lastSilenceMs = 1000
const keptAtMost = 2000

export type DeviceLog = {
  /** Oldest first. */
  events: DeviceEvent[]
  /** Connects and disconnects, oldest first. */
  changes: PresenceChange[]
  isReading: boolean
  error: unknown
}

export function useDeviceLog({ deviceId, since, createdAt }: Device): DeviceLog {
  const [events, setEvents] = useState<DeviceEvent[]>([])
  const [isReading, setReading] = useState(true)
  const [error, setError] = useState<unknown>()
  const add = useCallback(
    (batch: JobcastEvent[]) => {
      const fresh = batch.filter((event) => isOf(event, deviceId))
      if (fresh.length > 0) setEvents((before) => merged(before, fresh))
    },
    [deviceId],
  )
  useEffect(() => {
    const life = new AbortController()
    readLog(deviceId, since ?? createdAt, life, (event) => add([event]))
      .catch((error: unknown) => {
        if (!life.signal.aborted) setError(error)
      })
      .finally(() => setReading(false))
    return () => life.abort()
    // Ignored, because later changes come from the event stream of this tab.
  }, [deviceId, add])
  useEvents(add)
  const changes = useMemo(() => events.flatMap(changeOf), [events])
  return { events, changes, isReading, error }
}

/** There is no event if the device has reconnected since then. */
async function readLog(
  deviceId: string,
  since: string,
  life: AbortController,
  onEvent: (event: JobcastEvent) => void,
): Promise<void> {
  let timer = setTimeout(() => life.abort(), silenceMs)
  try {
    const types = ['device.*'] as const
    for await (const event of jobcast.events({ after: 0, types, deviceId, signal: life.signal })) {
      onEvent(event)
      clearTimeout(timer)
      timer = setTimeout(() => life.abort(), event.timestamp >= since ? lastSilenceMs : silenceMs)
    }
  } finally {
    clearTimeout(timer)
  }
}

function isOf(event: JobcastEvent, deviceId: string): event is DeviceEvent {
  return event.type.startsWith('device.') && (event as DeviceEvent).data.deviceId === deviceId
}

function changeOf({ type, timestamp }: DeviceEvent): PresenceChange[] {
  const isPresence = type === 'device.online' || type === 'device.offline'
  return isPresence ? [{ at: Date.parse(timestamp), online: type === 'device.online' }] : []
}

/** Removes duplicates, because an event may come from both the log and the stream. */
function merged(before: DeviceEvent[], fresh: DeviceEvent[]): DeviceEvent[] {
  const byId = new Map([...before, ...fresh].map((event) => [event.eventId, event]))
  return [...byId.values()].sort((a, b) => a.eventId - b.eventId).slice(-keptAtMost)
}
