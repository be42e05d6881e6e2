import type { Webhook } from '@jobcast/client'
import { Icon, type IconName } from '../../parts/icon.tsx'

type StateStyle = { tone: 'good' | 'bad' | 'off'; icon: IconName; word: string }

export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { tone, icon, word } = styleOf(webhook)
  return (
    <span class={`badge tone-${tone}`}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

function styleOf({ state, pausedBecause, failingSince }: Webhook): StateStyle {
  if (state === 'PAUSED') {
    if (pausedBecause === 'gone') return { tone: 'bad', icon: 'off', word: 'paused: gone' }
    if (pausedBecause === 'failing') return { tone: 'bad', icon: 'off', word: 'paused: failing' }
    return { tone: 'off', icon: 'off', word: 'paused' }
  }
  if (failingSince !== null) return { tone: 'bad', icon: 'warning', word: 'failing' }
  return { tone: 'good', icon: 'good', word: 'active' }
}
