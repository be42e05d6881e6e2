// Events in this tab: they invalidate affected data, and are passed to listeners in batches. They come from the shared stream of
// all tabs, while this tab is visible or watches a run.

import type { JobcastEvent } from '@jobcast/client'
import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { affectedKeys } from './affected-keys.ts'
import type { TabMessage } from './events-worker.ts'
import { type Connection, followEvents, type StreamUpdate } from './follow-events.ts'
import { refresh, refreshAll } from './refresher.ts'
import { checkWatched, reportEnds, watchedRuns } from './watched-runs.ts'

export const connection = signal<Connection>('connecting')

/** When the connection was lost; the screen shows data from then. */
export const lostAt = signal<number | undefined>(undefined)

type Listener = (events: JobcastEvent[]) => void
const listeners = new Set<Listener>()

/** Called with every event, in batches, while the component is shown. */
export function useEvents(listener: Listener): void {
  useEffect(() => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [listener])
}

/** Follows events while the tab is visible, until the signal. */
export function followWhileVisible(keyId: string, onRefused: () => void, end: AbortSignal): void {
  let source: Source | undefined
  const take = (update: StreamUpdate) => (update.kind === 'refused' ? onRefused() : apply(update))
  const stop = () => {
    source?.close()
    source = undefined
  }
  const start = () => {
    source ??= openSource(keyId, take)
  }
  const onVisibility = () => {
    if (document.visibilityState === 'hidden') return watchedRuns.value.length > 0 ? undefined : stop()
    if (source === undefined) refreshAll() // events were missed in the meantime
    start()
  }
  const listen = { signal: end }
  document.addEventListener('visibilitychange', onVisibility, listen)
  // The page is left, and may be restored from the back/forward cache.
  window.addEventListener('pagehide', stop, listen)
  window.addEventListener('pageshow', ({ persisted }) => persisted && onVisibility(), listen)
  end.addEventListener('abort', stop, { once: true })
  end.addEventListener('abort', stopWhenReported(stop), { once: true })
  if (document.visibilityState !== 'hidden') start()
}

/** Closes the stream of a hidden tab when its last watched run has ended. */
function stopWhenReported(stop: () => void): () => void {
  return effect(() => {
    if (watchedRuns.value.length === 0 && document.visibilityState === 'hidden') stop()
  })
}

type Source = { close: () => void }

/** Without shared workers (Chrome on Android), each tab has its own stream. */
function openSource(keyId: string, take: (update: StreamUpdate) => void): Source {
  if (typeof SharedWorker === 'undefined') return openOwnStream(take)
  const worker = new SharedWorker(new URL('./events-worker.ts', import.meta.url), {
    type: 'module',
    name: 'jobcast-events',
  })
  let own: Source | undefined
  worker.onerror = () => {
    own ??= openOwnStream(take)
  }
  worker.port.onmessage = ({ data }: MessageEvent<StreamUpdate>) => take(data)
  worker.port.postMessage({ kind: 'join', keyId } satisfies TabMessage)
  return {
    close() {
      worker.port.postMessage({ kind: 'leave' } satisfies TabMessage)
      worker.port.close()
      own?.close()
    },
  }
}

function openOwnStream(take: (update: StreamUpdate) => void): Source {
  const life = new AbortController()
  void followEvents(life.signal, take)
  return { close: () => life.abort() }
}

function apply(update: Exclude<StreamUpdate, { kind: 'refused' }>): void {
  switch (update.kind) {
    case 'connection':
      if (update.connection === 'live') lostAt.value = undefined
      else if (connection.value === 'live') lostAt.value = Date.now()
      connection.value = update.connection
      return
    case 'gap':
      refreshAll()
      void checkWatched()
      return
    case 'events':
      reportEnds(update.events)
      refresh(update.events.flatMap(affectedKeys))
      for (const listener of listeners) listener(update.events)
  }
}
