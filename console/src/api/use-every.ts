// Polling, for what has no events, while the page is visible.

import { useEffect } from 'preact/hooks'

export function useEvery(ms: number, work: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') work()
    }, ms)
    return () => clearInterval(timer)
  }, [ms, work])
}
