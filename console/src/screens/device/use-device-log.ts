// When a device connected and disconnected: from the event log, then from the event stream of this tab.

import type { Device, JobcastEvent } from '@jobcast/client'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { useEvents } from '../../live/live-events.ts'

export type PresenceChange = { at: number; online: boolean }

/** The event stream has no end: after this silence it is closed. A million events take about 9 s. */
const silenceMs = 20_000
const types = ['device.online', 'device.offline'] as const

type Presence = { changes: PresenceChange[]; isReading: boolean; error: unknown }

export function usePresence({ deviceId, since }: Device): Presence {
  const [changes, setChanges] = useState<PresenceChange[]>([])
  const [isReading, setReading] = useState(since !== null)
  const [error, setError] = useState<unknown>()
  const add = useCallback((fresh: PresenceChange[]) => {
    if (fresh.length > 0) setChanges((before) => merged(before, fresh))
  }, [])
  const isSeen = since !== null
  useEffect(() => {
    if (!isSeen) return
    const life = new AbortController()
    readLog(deviceId, since, life, (change) => add([change]))
      .catch((error: unknown) => {
        if (!life.signal.aborted) setError(error)
      })
      .finally(() => setReading(false))
    return () => life.abort()
    // Later changes come from the event stream of this tab.
  }, [deviceId, isSeen, add])
  useEvents(
    useCallback(
      (events: JobcastEvent[]) => add(events.filter((event) => isOf(event, deviceId)).map(changeOf)),
      [deviceId, add],
    ),
  )
  return { changes, isReading, error }
}

/** Ends with the change since which the device is as it is; one that has reconnected since then has no event for that. */
async function readLog(
  deviceId: string,
  since: string,
  life: AbortController,
  onChange: (change: PresenceChange) => void,
): Promise<void> {
  let timer = setTimeout(() => life.abort(), silenceMs)
  try {
    for await (const event of jobcast.events({ after: 0, types, deviceId, signal: life.signal })) {
      onChange(changeOf(event))
      if (event.timestamp >= since) return
      clearTimeout(timer)
      timer = setTimeout(() => life.abort(), silenceMs)
    }
  } finally {
    clearTimeout(timer)
  }
}

function isOf(event: JobcastEvent, deviceId: string): boolean {
  return (
    (event.type === 'device.online' || event.type === 'device.offline') && event.data.deviceId === deviceId
  )
}

function changeOf({ type, timestamp }: JobcastEvent): PresenceChange {
  return { at: Date.parse(timestamp), online: type === 'device.online' }
}

/** Each once, though it may come from both the log and the stream. */
function merged(before: PresenceChange[], fresh: PresenceChange[]): PresenceChange[] {
  const byTime = new Map([...before, ...fresh].map((change) => [`${change.at} ${change.online}`, change]))
  return [...byTime.values()].sort((a, b) => a.at - b.at)
}
