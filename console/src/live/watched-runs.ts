// Runs whose end is reported by a browser notification, also while the tab is hidden. Each tab has its own; a reload keeps them.

import type { JobcastEvent, Run } from '@jobcast/client'
import { effect, signal } from '@preact/signals'
import { jobcast } from '../api/client.ts'
import { countsInWords } from '../parts/exec-state.ts'

const storageKey = 'jobcast-watched-runs'
const watchedAtMost = 20

export const watchedRuns = signal<readonly number[]>(readWatched())
effect(() => sessionStorage.setItem(storageKey, watchedRuns.value.join()))

function readWatched(): number[] {
  return (sessionStorage.getItem(storageKey) ?? '').split(',').filter(Boolean).map(Number)
}

/** Why the browser cannot show notifications; undefined if it can. */
export function cannotNotify(): string | undefined {
  if (!('Notification' in globalThis) || !globalThis.isSecureContext)
    return 'Notifications need HTTPS, or a server on this machine.'
  return Notification.permission === 'denied' ? 'This browser does not allow notifications here.' : undefined
}

export async function watchRun(runId: number): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('This browser does not allow notifications here.')
  watchedRuns.value = [...watchedRuns.value.filter((id) => id !== runId), runId].slice(-watchedAtMost)
}

export function unwatchRun(runId: number): void {
  watchedRuns.value = watchedRuns.value.filter((id) => id !== runId)
}

export function reportEnds(events: JobcastEvent[]): void {
  if (watchedRuns.value.length === 0) return
  for (const event of events) {
    if (event.type === 'run.finished' && event.data.counts)
      report({ ...event.data, counts: event.data.counts })
  }
}

/** Called after a gap in the events. */
export async function checkWatched(): Promise<void> {
  for (const runId of watchedRuns.value) {
    const run = await jobcast.runs.get(runId).catch(() => undefined)
    if (run?.finished) report(run)
  }
}

function report({ runId, jobName, counts }: Pick<Run, 'runId' | 'jobName' | 'counts'>): void {
  if (!watchedRuns.value.includes(runId)) return
  unwatchRun(runId)
  try {
    const notification = new Notification(`${jobName} finished`, {
      body: countsInWords(counts),
      tag: `jobcast-run-${runId}`,
    })
    notification.onclick = () => {
      window.focus()
      notification.close()
    }
  } catch {
    // Chrome on Android has no notifications without a service worker.
  }
}
