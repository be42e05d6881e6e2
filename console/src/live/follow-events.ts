// Follows the event stream until the signal: reconnects automatically, and delivers events in batches.

import { isJobcastError, type JobcastEvent } from '@jobcast/client'
import { jobcast } from '../api/client.ts'
import { isRefusal } from '../api/refusal.ts'

export type Connection = 'connecting' | 'live' | 'reconnecting'

export type StreamUpdate =
  | { kind: 'connection'; connection: Connection }
  | { kind: 'events'; events: JobcastEvent[] }
  /** Events may be missing, so earlier data may be outdated. */
  | { kind: 'gap' }
  | { kind: 'refused' }

/** Events of this interval form one batch. */
const batchMs = 100
const reconnectMs = 2000

export async function followEvents(abort: AbortSignal, tell: (update: StreamUpdate) => void): Promise<void> {
  const take = batched((events) => tell({ kind: 'events', events }))
  let wasOpen = false
  const onOpen = () => {
    if (wasOpen) tell({ kind: 'gap' })
    wasOpen = true
    tell({ kind: 'connection', connection: 'live' })
  }
  const onReconnect = () => tell({ kind: 'connection', connection: 'reconnecting' })
  while (!abort.aborted) {
    try {
      // After a reconnect, onResume reloads failed reads, as after a gap.
      const stream = jobcast.events({ signal: abort, onOpen, onResume: onOpen, onReconnect })
      for await (const event of stream) take(event)
    } catch (error) {
      if (abort.aborted) return
      if (isRefusal(error)) return tell({ kind: 'refused' })
      onReconnect()
      // J-306: the position in the log is no longer retained. The next stream starts with new events.
      if (!isJobcastError(error, 'J-306')) await new Promise((resolve) => setTimeout(resolve, reconnectMs))
    }
  }
}

function batched(hand: (events: JobcastEvent[]) => void): (event: JobcastEvent) => void {
  let batch: JobcastEvent[] = []
  return (event) => {
    batch.push(event)
    if (batch.length > 1) return
    setTimeout(() => {
      const events = batch
      batch = []
      hand(events)
    }, batchMs)
  }
}
