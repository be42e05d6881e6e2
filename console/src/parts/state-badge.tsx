import type { ExecState } from '@jobcast/client'
import { stateStyles } from './exec-state.ts'
import { Icon } from './icon.tsx'

export function StateBadge({ state }: { state: ExecState }) {
  const { tone, icon, word } = stateStyles[state]
  return (
    <span class={`badge tone-${tone}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}
