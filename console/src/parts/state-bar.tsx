// Counts per state as one bar, failures first, and in words for screen readers.

import { type Counts, countsInWords, stateOrder, stateStyles } from './exec-state.ts'

export function StateBar({ counts, total }: { counts: Counts; total: number }) {
  return (
    <div class="state-bar" role="img" aria-label={countsInWords(counts)}>
      {stateOrder
        .filter((state) => counts[state] > 0)
        .map((state) => (
          <span
            key={state}
            class={`tone-${stateStyles[state].tone}`}
            // The minimum width keeps two in ten thousand visible.
            style={{ flexGrow: counts[state] / total, minWidth: '3px' }}
          />
        ))}
    </div>
  )
}
