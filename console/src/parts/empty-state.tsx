import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

/** The state of an empty list: describes what would be here, with the next step as children. */
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

/** Shown if nothing matches the filters. */
export function NoMatches({ what, href }: { what: string; href: string }) {
  return (
    <EmptyState icon="search" title={`No ${what} match`}>
      <p>
        <a href={href}>Clear filters</a>
      </p>
    </EmptyState>
  )
}
