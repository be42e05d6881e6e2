// The state of a whole run in a word or two: its position in the rollout, and what it waits for.

import type { Run } from '@jobcast/client'
import { RelativeTime } from './relative-time.tsx'

export function RunStateWord({ run }: { run: Run }) {
  const { rollout, finished } = run
  if (rollout === null) return <WindowWord run={run} />
  const { state, wave, waves, nextAt } = rollout
  const place = waves.length > 1 ? ` ${wave}/${waves.length}` : ''
  switch (state) {
    case 'SCHEDULED':
      return <span class="run-word">starts {nextAt !== null && <RelativeTime at={nextAt} isAhead />}</span>
    case 'AWAITING_APPROVAL':
      return (
        <span class="run-word asks">
          {rollout.approval?.blockedBecause === null ? 'awaits your approval' : 'awaits approval'}
        </span>
      )
    case 'ROLLING_OUT':
      return <span class="run-word">rolling out{place}</span>
    case 'PAUSED':
      return <span class="run-word asks">paused{place}</span>
    case 'DENIED':
      return <span class="run-word">denied</span>
    case 'ABORTED':
      return <span class="run-word">stopped{place}</span>
    default:
      return finished ? null : <WindowWord run={run} />
  }
}

/** Whether the window is open depends on the device; executions that have not begun may wait for it. */
function WindowWord({ run: { window, counts, finished } }: { run: Run }) {
  if (finished || window === null || counts.PENDING === 0) return null
  return <span class="run-word">only in window {window}</span>
}
