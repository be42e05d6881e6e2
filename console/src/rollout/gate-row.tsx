// A gate between two lanes.

import './picture.css'
import type { ComponentChild, ComponentChildren } from 'preact'

type Props = {
  of: ComponentChild[]
  isOpen?: boolean
  /** The gate is the next to open. */
  isWaitedFor?: boolean
  /** The fulfilled share of its conditions. */
  share?: number
  /** Actions. */
  children?: ComponentChildren
}

export function GateRow({ of, isOpen = false, isWaitedFor = false, share, children }: Props) {
  return (
    <div class={`gate ${isOpen ? 'open' : 'closed'} ${isWaitedFor ? 'waited-for' : ''}`}>
      <p>
        <strong>Gate</strong>
        {of.map((each, index) => (
          <span key={index}>{each}</span>
        ))}
      </p>
      {share !== undefined && (
        <div class="gate-share" aria-hidden="true">
          <span style={{ width: `${Math.min(1, share) * 100}%` }} />
        </div>
      )}
      {children}
    </div>
  )
}
