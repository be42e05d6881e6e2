// Polling while the page is visible, for data without events.

import { useEffect } from 'preact/hooks'

export function useEvery(ms: number, work: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') work()
    }, ms)
    return () => clearInterval(timer)
  }, [ms, work])
}
