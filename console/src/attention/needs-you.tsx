// Items that need attention, on top of the fleet screen. Usually there are none, and only one line is shown.

import { lazyPart } from '../parts/lazy-part.tsx'
import { type AttentionItem, useAttention } from './use-attention.ts'

const Items = lazyPart<{ items: AttentionItem[] }>(() => import('./attention-items.tsx'))

export function NeedsYou() {
  const items = useAttention()
  if (items === undefined) return null
  return (
    <section class={`needs-you ${items.length > 0 ? 'some' : ''}`} aria-label="Needs attention">
      {items.length === 0 ? <p class="quiet">Nothing needs your attention.</p> : <Items items={items} />}
    </section>
  )
}
