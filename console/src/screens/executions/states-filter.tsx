// A filter for one or several states, with a list below a button.

import type { ExecState } from '@jobcast/client'
import { useEffect, useRef } from 'preact/hooks'
import { CheckList } from '../../parts/check-list.tsx'
import { stateOrder, stateStyles } from '../../parts/exec-state.ts'

type Props = { chosen: ExecState[]; onChange: (chosen: ExecState[]) => void }

export function StatesFilter({ chosen, onChange }: Props) {
  const box = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      const isInside = event.target instanceof Node && box.current?.contains(event.target)
      if (box.current && (!isInside || (event as KeyboardEvent).key === 'Escape')) box.current.open = false
    }
    document.addEventListener('pointerdown', close)
    box.current?.addEventListener('keydown', (event) => event.key === 'Escape' && close(event))
    return () => document.removeEventListener('pointerdown', close)
  }, [])
  const words = chosen.map((state) => stateStyles[state].word).join(', ')
  return (
    <div class="field">
      <span class="label" aria-hidden="true">
        State
      </span>
      <details class="states-filter" ref={box}>
        <summary class="button" aria-label={`State: ${words || 'any'}`}>
          {words || 'Any'}
        </summary>
        <div class="states-list">
          <CheckList
            label="States"
            options={stateOrder.map((state) => ({ value: state, label: stateStyles[state].word }))}
            chosen={chosen}
            // Sorted, so that equal selections have equal addresses.
            onChange={(states) => onChange(stateOrder.filter((state) => states.includes(state)))}
          />
        </div>
      </details>
    </div>
  )
}
