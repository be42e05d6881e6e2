import { useEffect } from 'preact/hooks'

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
