// When the device connected and disconnected since the launch: once from the event log, then from the event stream.

import type { JobcastEvent } from '@jobcast/client'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { useEvents } from '../../live/live-events.ts'
import { parseTime } from '../../parts/time.ts'
import type { Presence } from './timeline.ts'

/** Browsers have few connections, so the log is closed when it must have sent everything. */
const listenMs = 3000

export function usePresence(deviceId: string, launchedAt: string): Presence[] {
  const [events, setEvents] = useState<Map<number, Presence>>(new Map())
  const take = useCallback(
    (batch: JobcastEvent[]) => {
      const changes = batch.filter(
        ({ type, data }) =>
          (type === 'device.online' || type === 'device.offline') &&
          (data as { deviceId: string }).deviceId === deviceId,
      )
      if (changes.length === 0) return
      setEvents(
        (before) =>
          new Map([
            ...before,
            ...changes.map(
              ({ eventId, type, timestamp }) =>
                [eventId, { at: parseTime(timestamp), online: type === 'device.online' }] as const,
            ),
          ]),
      )
    },
    [deviceId],
  )
  useEvents(take)
  useEffect(() => {
    const life = new AbortController()
    const timer = setTimeout(() => life.abort(), listenMs)
    void readLog(deviceId, `${launchedAt}Z`, life.signal, take)
    return () => {
      clearTimeout(timer)
      life.abort()
    }
  }, [deviceId, launchedAt, take])
  return [...events].sort(([a], [b]) => a - b).map(([, presence]) => presence)
}

/** If this fails, the timeline shows less detail. */
async function readLog(
  deviceId: string,
  since: string,
  signal: AbortSignal,
  take: (events: JobcastEvent[]) => void,
): Promise<void> {
  try {
    const types = ['device.online', 'device.offline'] as const
    for await (const event of jobcast.events({ since, deviceId, types, signal })) take([event])
  } catch {
    // see above
  }
}
