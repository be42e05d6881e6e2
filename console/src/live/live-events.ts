// The event stream of this tab: it invalidates what events affect, and hands each batch of events to its listeners. It
// reconnects automatically.

import { isJobcastError, type JobcastEvent } from '@jobcast/client'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { endSession, isRefusal } from '../api/self.ts'
import { affectedKeys } from './affected-keys.ts'
import { refresh, refreshAll } from './refresher.ts'

export type Connection = 'connecting' | 'live' | 'reconnecting'

export const connection = signal<Connection>('connecting')

/** Events of this interval form one batch. */
const batchMs = 100
const reconnectMs = 2000

type Listener = (events: JobcastEvent[]) => void
const listeners = new Set<Listener>()

/** Called with every event, in batches, while the component is shown. */
export function useEvents(listener: Listener): void {
  useEffect(() => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [listener])
}

/** Until the signal aborts or the session ends. */
export async function followEvents(abort: AbortSignal): Promise<void> {
  let wasOpen = false
  while (!abort.aborted) {
    try {
      for await (const event of jobcast.events({
        signal: abort,
        onOpen: () => {
          if (wasOpen) refreshAll()
          wasOpen = true
          connection.value = 'live'
        },
        onResume: () => {
          connection.value = 'live'
          refreshAll() // what failed to be read meanwhile
        },
        onReconnect: () => {
          connection.value = 'reconnecting'
        },
      })) {
        take(event)
      }
    } catch (error) {
      if (abort.aborted) return
      if (isRefusal(error)) return endSession()
      // J-306: the position in the log is no longer retained. The next stream begins with what happens from now on.
      connection.value = 'reconnecting'
      if (!isJobcastError(error, 'J-306')) await new Promise((resolve) => setTimeout(resolve, reconnectMs))
    }
  }
}

let batch: JobcastEvent[] = []

function take(event: JobcastEvent): void {
  batch.push(event)
  if (batch.length === 1) setTimeout(deliverBatch, batchMs)
}

function deliverBatch(): void {
  const events = batch
  batch = []
  refresh(events.flatMap(affectedKeys))
  for (const listener of listeners) listener(events)
}
