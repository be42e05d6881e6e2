// The devices of a wave as cells in the colour of their state, or as proportional parts if there are too many.

import './picture.css'
import { type PartCounts, partsInWords, waveParts } from './wave-parts.ts'

const cellsOfWave = 240
const cellsOfAll = 3000

type Props = { parts: PartCounts /** In how many lanes the run is drawn. */; lanes: number }

export function WaveLane({ parts, lanes }: Props) {
  const shown = waveParts.filter((part) => parts[part] > 0)
  const size = shown.reduce((sum, part) => sum + parts[part], 0)
  const hasCells = size <= Math.min(cellsOfWave, cellsOfAll / lanes)
  return (
    <div class={`lane ${hasCells ? 'cells' : ''}`} role="img" aria-label={partsInWords(parts)}>
      {hasCells
        ? // Ordered by position, so that cells change their colour but not their place.
          shown
            .flatMap((part) => Array.from({ length: parts[part] }, () => part))
            .map((part, index) => <span key={index} class={`part-${part}`} />)
        : shown.map((part) => (
            <span key={part} class={`part-${part}`} style={{ flexGrow: parts[part] / size }} />
          ))}
    </div>
  )
}
