// Counts per state as one bar, failures first, and in words for whoever does not see it.

import { type Counts, countsInWords, looks, stateOrder } from './exec-state.ts'

export function StateBar({ counts, total }: { counts: Counts; total: number }) {
  return (
    <div class="state-bar" role="img" aria-label={countsInWords(counts)}>
      {stateOrder
        .filter((state) => counts[state] > 0)
        .map((state) => (
          <span
            key={state}
            class={`tone-${looks[state].tone}`}
            // Two in ten thousand are still to be seen.
            style={{ flexGrow: counts[state] / total, minWidth: '3px' }}
          />
        ))}
    </div>
  )
}
