// The release of a planned run, in the same form as a run in progress. Gates can be moved, added and removed, and a note shows
// how many devices begin before a stop rule can take effect.

import type { RunPlan } from '@jobcast/client'
import { useEffect, useState } from 'preact/hooks'
import { formatCount } from '../parts/exec-state.ts'
import { GateRow } from './gate-row.tsx'
import { needsOfGate } from './gate-words.ts'
import type { Rollout } from './rollout-draft.ts'
import { WaveLane } from './wave-lane.tsx'
import { nothing } from './wave-parts.ts'

export type PlanPictureProps = {
  plan: RunPlan
  /** The next plan is being loaded. */
  isOutdated: boolean
  rollout: Rollout
  /** Undefined: sizes cannot be changed here. */
  onSizes: ((sizes: number[]) => void) | undefined
}

export default function PlanPicture({ plan, isOutdated, rollout, onSizes }: PlanPictureProps) {
  const [moved, setMoved] = useState<number[]>()
  useEffect(() => {
    if (!isOutdated) setMoved(undefined)
  }, [isOutdated])
  const wanted = isOutdated ? moved : undefined
  const sizes = wanted ?? plan.waves.map(({ size }) => size)
  const change =
    onSizes &&
    ((next: number[]) => {
      setMoved(next)
      onSizes(next)
    })
  return (
    <div class="rollout-picture plan">
      <ol class="waves" aria-label="Planned waves">
        {sizes.map((size, index) => (
          <li key={index}>
            <p class="about-wave">
              <span>
                <span class="wave-name">Wave {index + 1}</span>: {devices(size)}
              </span>
              <span class="quiet">
                <bdi>{wanted ? '' : plan.waves[index]?.sample[0]}</bdi>
                {!wanted && size > 1 && ', …'}
              </span>
              {change && size > 1 && (
                <button type="button" onClick={() => change(split(sizes, index))}>
                  Split<span class="hidden"> wave {index + 1}</span>
                </button>
              )}
            </p>
            <WaveLane parts={{ ...nothing, held: size }} lanes={sizes.length} />
            {index < sizes.length - 1 && (
              <GateRow of={needsOfGate(rollout.next)}>
                {change && <MoveGate sizes={sizes} index={index} onSizes={change} />}
              </GateRow>
            )}
          </li>
        ))}
      </ol>
      <AtOnce sizes={sizes} rollout={rollout} />
    </div>
  )
}

type MoveProps = { sizes: number[]; index: number; onSizes: (sizes: number[]) => void }

function MoveGate({ sizes, index, onSizes }: MoveProps) {
  const [before = 0, after = 0] = sizes.slice(index, index + 2)
  const both = before + after
  const around = (first: number[]) => [...sizes.slice(0, index), ...first, ...sizes.slice(index + 2)]
  return (
    <div class="move-gate">
      {both > 2 && (
        <input
          type="range"
          min={1}
          max={both - 1}
          value={before}
          aria-label={`Move the gate after wave ${index + 1}`}
          aria-valuetext={`Wave ${index + 1}: ${devices(before)}, wave ${index + 2}: ${devices(after)}`}
          onInput={(event) => {
            const moved = Number(event.currentTarget.value)
            onSizes(around([moved, both - moved]))
          }}
        />
      )}
      <button type="button" onClick={() => onSizes(around([both]))}>
        Remove<span class="hidden"> the gate after wave {index + 1}</span>
      </button>
    </div>
  )
}

/** Splits a wave in two halves. */
function split(sizes: number[], index: number): number[] {
  const size = sizes[index] ?? 0
  const half = Math.ceil(size / 2)
  return [...sizes.slice(0, index), half, size - half, ...sizes.slice(index + 1)]
}

/** The largest wave that begins on all of its devices at once. */
function AtOnce({ sizes, rollout }: { sizes: number[]; rollout: Rollout }) {
  const { ratePerMinute, budget, maxUnderWay = Number.POSITIVE_INFINITY, stop = [] } = rollout
  const largest = Math.max(...sizes)
  const isPaced = ratePerMinute !== undefined || budget !== undefined || maxUnderWay < largest
  if (isPaced || largest < 2) return null
  return (
    <p class="at-once">
      Wave {sizes.indexOf(largest) + 1} of {formatCount(largest)} devices is released at once
      {stop.length > 0 && ': no stop rule can hold any of it back'}. A rate in devices per minute spreads it.
    </p>
  )
}

function devices(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'device' : 'devices'}`
}
