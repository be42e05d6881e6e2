// For screens whose files could not be loaded: the server is unavailable, or was upgraded and has other files. The page is
// reloaded as soon as the server responds.

import { useEffect } from 'preact/hooks'

const askEveryMs = 2000
/** If the page is still broken this soon after a reload, waiting does not help. */
const recentMs = 15_000
const storageKey = 'jobcast-reloaded-at'

export function useReloadWhenBack(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded || Date.now() - Number(sessionStorage.getItem(storageKey)) < recentMs) return
    const timer = setInterval(() => void reloadIfBack(), askEveryMs)
    return () => clearInterval(timer)
  }, [isNeeded])
}

async function reloadIfBack(): Promise<void> {
  const answer = await fetch('/', { cache: 'no-store' }).catch(() => undefined)
  if (!answer?.ok) return
  sessionStorage.setItem(storageKey, String(Date.now()))
  location.reload()
}
