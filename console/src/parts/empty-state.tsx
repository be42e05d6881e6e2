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
