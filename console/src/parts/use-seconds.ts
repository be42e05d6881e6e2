import { useEffect, useState } from 'preact/hooks'

/** The time, every second while something goes on that is counted in seconds. */
export function useSeconds(goesOn: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!goesOn) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [goesOn])
  return now
}
