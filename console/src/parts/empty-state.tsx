import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

/** Where there is nothing: what would be here, and as children the next step to get there. */
export function EmptyState({
  icon,
  title,
  children,
}: {
  icon: IconName
  title: string
  children?: ComponentChildren
}) {
  return (
    <div class="empty-state">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Where filters let nothing through. */
export function NoMatches({ what, href }: { what: string; href: string }) {
  return (
    <EmptyState icon="search" title={`No ${what} match`}>
      <p>
        <a href={href}>Clear filters</a>
      </p>
    </EmptyState>
  )
}
