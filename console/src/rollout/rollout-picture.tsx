// The release of a run: a lane per wave, the gates between them with unmet conditions, and the stop rules.

import type { RolloutProgress, Run } from '@jobcast/client'
import { formatCount } from '../parts/exec-state.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import type { GateProps } from './gate-of-run.tsx'
import { WaveLane } from './wave-lane.tsx'
import { partsInWords, partsOf, partWords, sumParts, type Wave, waveParts } from './wave-parts.ts'

/** Loaded on demand, because most runs have one wave, or no rule. */
const GateOfRun = lazyPart<GateProps>(() => import('./gate-of-run.tsx'))
const StopRules = lazyPart<{ rollout: RolloutProgress }>(() => import('./stop-rules.tsx'))

type Props = { run: Run; rollout: RolloutProgress }

export function RolloutPicture({ run, rollout }: Props) {
  const { waves, wave: current, state, stopRules } = rollout
  const sum = sumParts(waves)
  const canStop = stopRules.length > 0 && state !== 'RELEASED' && state !== 'DENIED'
  return (
    <div class="rollout-picture">
      {canStop && <StopRules rollout={rollout} />}
      <ol class="waves" aria-label="Waves">
        {waves.map((wave, index) => (
          <li key={index} aria-current={index + 1 === current ? 'step' : undefined}>
            <p class="about-wave">
              <span class="wave-name">Wave {index + 1}</span>
              <span>
                {formatCount(wave.released)} of {formatCount(wave.size)} released
              </span>
              {/* The lane also shows this. */}
              <span class={partsOf(wave).failed > 0 ? 'has-failures' : ''} aria-hidden="true">
                {partsInWords(partsOf(wave))}
              </span>
              <span class="quiet">{timeOf(wave)}</span>
            </p>
            <WaveLane parts={partsOf(wave)} lanes={waves.length} />
            {index < waves.length - 1 && <GateOfRun run={run} rollout={rollout} index={index} />}
          </li>
        ))}
      </ol>
      <ul class="rollout-legend" aria-label="In total">
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

function timeOf({ startedAt }: Wave) {
  if (startedAt === null) return 'not started'
  return (
    <>
      started <RelativeTime at={startedAt} />
    </>
  )
}
