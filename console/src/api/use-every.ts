// For what no event tells of: it is read again every so often, while somebody can see it.

import { useEffect } from 'preact/hooks'

export function useEvery(ms: number, work: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') work()
    }, ms)
    return () => clearInterval(timer)
  }, [ms, work])
}
