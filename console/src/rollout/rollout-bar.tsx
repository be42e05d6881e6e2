// A run as one bar in the order of release, wave after wave, with the gates between them as marks.

import { formatCount } from '../parts/exec-state.ts'
import { partsInWords, partsOf, partWords, sumParts, type Wave, waveParts } from './wave-parts.ts'

export function RolloutBar({ waves }: { waves: readonly Wave[] }) {
  const sum = sumParts(waves)
  return (
    <div class="rollout-bar-with-legend">
      <div class="rollout-bar" role="img" aria-label={`In the order of release: ${partsInWords(sum)}`}>
        {waves.map((wave, index) => (
          <WaveOfBar key={index} wave={wave} isLast={index === waves.length - 1} />
        ))}
      </div>
      <ul class="rollout-legend">
        {waveParts
          .filter((part) => sum[part] > 0)
          .map((part) => (
            <li key={part}>
              <span class={`part-${part}`} />
              {formatCount(sum[part])} {partWords[part]}
            </li>
          ))}
      </ul>
    </div>
  )
}

function WaveOfBar({ wave, isLast }: { wave: Wave; isLast: boolean }) {
  const parts = partsOf(wave)
  return (
    <>
      {/* Five canaries of forty thousand devices are still to be seen. */}
      <div class="wave" style={{ flexGrow: wave.size }}>
        {waveParts
          .filter((part) => parts[part] > 0)
          .map((part) => (
            <span key={part} class={`part-${part}`} style={{ flexGrow: parts[part] }} />
          ))}
      </div>
      {!isLast && <span class={`gate ${wave.passedAt === null ? 'closed' : 'open'}`} />}
    </>
  )
}
