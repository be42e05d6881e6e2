import type { ComponentChildren } from 'preact'
import { formatCount } from '../../parts/exec-state.ts'
import { type CellTone, toneWords } from './cell-tone.ts'

type Props = {
  counts: Record<CellTone, number>
  lit?: CellTone | undefined
  /** Called to highlight the cells of one colour. */
  onLight?: (tone: CellTone | undefined) => void
  /** Additional text. */
  children?: ComponentChildren
}

/** The meaning of each colour, with counts. */
export function Legend({ counts, lit, onLight, children }: Props) {
  return (
    <div class="legend">
      {toneWords
        .filter(({ tone }) => counts[tone] > 0)
        .map(({ tone, word }) => {
          const text = `${formatCount(counts[tone])} ${word}`
          if (!onLight) {
            return (
              <span key={tone} class={`tone-${tone} legend-entry`}>
                <span class="swatch" />
                {text}
              </span>
            )
          }
          return (
            <button
              key={tone}
              type="button"
              class={`ghost tone-${tone}`}
              aria-pressed={lit === tone}
              onClick={() => onLight(lit === tone ? undefined : tone)}
            >
              <span class="swatch" />
              {text}
            </button>
          )
        })}
      {children}
    </div>
  )
}
