// Tabs with counts. They are links, so the address has the current one.

import { formatCount } from './exec-state.ts'

type Tab = { name: string; label: string; href: string; count?: number | undefined }

export function Tabs({ label, tabs, current }: { label: string; tabs: Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, label, href, count }) => (
        <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
          {label}
          {count !== undefined && <span class="count">{formatCount(count)}</span>}
        </a>
      ))}
    </nav>
  )
}
