// Wall mode: only the fleet, in large type, for a display without input. It is part of the address, so that the display can open
// it directly.

import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { path, search, setSearch } from './router.ts'

export const isWall = computed(() => path.value === '/' && search.value.has('wall'))

export function enterWall(): void {
  setSearch({ wall: 'on' })
  document.documentElement.requestFullscreen?.().catch(() => undefined) // full screen is optional
}

export function leaveWall(): void {
  setSearch({ wall: undefined })
  if (document.fullscreenElement) void document.exitFullscreen()
}

/** Keeps the screen on if the browser supports it: over HTTPS, or on the same machine. */
export function useScreenOn(isWanted: boolean): void {
  useEffect(() => {
    if (!isWanted || !('wakeLock' in navigator)) return
    const life = new AbortController()
    let lock: WakeLockSentinel | undefined
    const hold = async () => {
      if (document.visibilityState !== 'visible') return
      lock = await navigator.wakeLock.request('screen').catch(() => undefined)
      if (life.signal.aborted) await lock?.release()
    }
    void hold()
    // The lock is released whenever the page is hidden.
    document.addEventListener('visibilitychange', hold, { signal: life.signal })
    return () => {
      life.abort()
      void lock?.release()
    }
  }, [isWanted])
}
