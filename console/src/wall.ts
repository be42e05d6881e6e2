// Wall mode: the fleet alone, large, for a screen that nobody touches. It is in the address, so that such a screen can
// open it by itself.

import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { path, search, setSearch } from './router.ts'

export const isWall = computed(() => path.value === '/' && search.value.has('wall'))

export function enterWall(): void {
  setSearch({ wall: 'on' })
  document.documentElement.requestFullscreen?.().catch(() => undefined) // it works in a window as well
}

export function leaveWall(): void {
  setSearch({ wall: undefined })
  if (document.fullscreenElement) void document.exitFullscreen()
}

/** Keeps the screen on, where the browser can: over HTTPS, or on the same machine. */
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
    // It is lost whenever the page is hidden.
    document.addEventListener('visibilitychange', hold, { signal: life.signal })
    return () => {
      life.abort()
      void lock?.release()
    }
  }, [isWanted])
}
