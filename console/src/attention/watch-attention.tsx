// Shows the number of items that need attention in the tab title and the navigation, and notifies of new ones while the tab is hidden.

import { useEffect, useRef } from 'preact/hooks'
import { attentionCount } from '../parts/screen-title.ts'
import { type AttentionItem, titleOf, useAttention } from './use-attention.ts'

export default function WatchAttention() {
  const items = useAttention()
  const known = useRef<ReadonlySet<string>>(undefined)
  useEffect(() => {
    if (items === undefined) return
    attentionCount.value = items.length
    const fresh = items.filter(({ key }) => known.current?.has(key) === false)
    known.current = new Set(items.map(({ key }) => key))
    if (document.visibilityState === 'hidden') for (const item of fresh.slice(0, reportedAtOnce)) report(item)
  }, [items?.map(({ key }) => key).join('\n')])
  useEffect(
    () => () => {
      attentionCount.value = 0
    },
    [],
  )
  return null
}

const reportedAtOnce = 3

function report(item: AttentionItem): void {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return
  try {
    const notification = new Notification(titleOf(item), { tag: `jobcast-${item.key}` })
    notification.onclick = () => {
      window.focus()
      notification.close()
    }
  } catch {
    // Chrome on Android has no notifications without a service worker.
  }
}
