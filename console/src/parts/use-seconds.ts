import { useEffect, useState } from 'preact/hooks'

/** The current time, updated every second while `goesOn` is true. */
export function useSeconds(goesOn: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!goesOn) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [goesOn])
  return now
}
