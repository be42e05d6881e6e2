// The one stream of events of this tab: it tells what to read anew, and hands each bundle of events to whoever asks for
// them. It comes back by itself when the server does.

import { isJobcastError, type JobcastEvent } from '@jobcast/client'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { forgetSelf, isRefusal } from '../api/self.ts'
import { affectedKeys } from './affected-keys.ts'
import { refresh, refreshAll } from './refresher.ts'

export type Connection = 'connecting' | 'live' | 'reconnecting'

export const connection = signal<Connection>('connecting')

/** Events of so long are one bundle. */
const bundleMs = 100
const comeBackMs = 2000

type Listener = (events: JobcastEvent[]) => void
const listeners = new Set<Listener>()

/** Hears of every event, in bundles, while the component is shown. */
export function useEvents(listener: Listener): void {
  useEffect(() => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [listener])
}

/** Goes on until the signal; a session that has ended ends it, too. */
export async function followEvents(abort: AbortSignal): Promise<void> {
  let hasStood = false
  while (!abort.aborted) {
    try {
      for await (const event of jobcast.events({
        signal: abort,
        onOpen: () => {
          if (hasStood) refreshAll()
          hasStood = true
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
      if (isRefusal(error)) return forgetSelf()
      // J-306: the place in the log is gone. The next stream begins with what happens from now on.
      connection.value = 'reconnecting'
      if (!isJobcastError(error, 'J-306')) await new Promise((resolve) => setTimeout(resolve, comeBackMs))
    }
  }
}

let bundle: JobcastEvent[] = []

function take(event: JobcastEvent): void {
  bundle.push(event)
  if (bundle.length === 1) setTimeout(handOut, bundleMs)
}

function handOut(): void {
  const events = bundle
  bundle = []
  refresh(events.flatMap(affectedKeys))
  for (const listener of listeners) listener(events)
}
