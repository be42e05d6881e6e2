// The rollout on the page of a run: its state and why, the bar, what can be done, and the waves one by one.

import './rollout.css'
import type { RolloutProgress, Run } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { failedStates, formatCount, stateStyles } from '../parts/exec-state.ts'
import { FailingNote } from '../parts/failing-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { timeZone as ownZone, parseTime } from '../parts/time.ts'
import { formatInZone } from '../parts/zoned-time.ts'
import { Decisions } from './decisions.tsx'
import { RolloutBar } from './rollout-bar.tsx'
import { RolloutButtons } from './rollout-buttons.tsx'
import { partsInWords, partsOf } from './wave-parts.ts'

export default function RolloutPart({ run }: { run: Run }) {
  const { rollout } = run
  if (rollout === null) return null
  return (
    <section class="panel rollout" aria-labelledby="rollout">
      <header>
        <h2 id="rollout">Rollout</h2>
      </header>
      <StateNote run={run} rollout={rollout} />
      <RolloutBar waves={rollout.waves} />
      <RolloutButtons run={run} />
      <Waves rollout={rollout} />
    </section>
  )
}

type StateProps = { run: Run; rollout: RolloutProgress }

const headings: Record<RolloutProgress['state'], string> = {
  SCHEDULED: 'Scheduled',
  AWAITING_APPROVAL: 'Waiting for approval by somebody else',
  ROLLING_OUT: 'Rolling out',
  PAUSED: 'Paused',
  RELEASED: 'Released to all devices',
  DENIED: 'Denied',
  ABORTED: 'Stopped',
}

function StateNote({ run, rollout }: StateProps) {
  const { state, wave, waves, nextAt, pausedBecause, failing } = rollout
  const isStopped = state === 'PAUSED' || state === 'DENIED' || state === 'ABORTED'
  return (
    <div class={`rollout-state ${isStopped ? 'stopped' : ''}`} role="status">
      {isStopped && <Icon name="warning" />}
      <div>
        <p>
          <strong>{headings[state]}</strong>
          {state === 'ROLLING_OUT' && ` wave ${wave} of ${waves.length}`}
          {state === 'AWAITING_APPROVAL' && wave > 1 && `, wave ${wave} of ${waves.length}`}
          {isStopped && pausedBecause !== null && `: ${pausedBecause}`}
          {isStopped && <StoppedBy by={rollout.pausedBy} name={rollout.pausedByName} />}
        </p>
        <Decisions run={run} />
        {isStopped && <Causes run={run} cause={rollout.pausedCause} />}
        {state === 'SCHEDULED' && nextAt !== null && (
          <p>
            Starts <RelativeTime at={nextAt} isAhead />, {formatInZone(parseTime(nextAt), ownZone)} {ownZone}
          </p>
        )}
        {failing && <FailingNote failing={failing} />}
        {state === 'ROLLING_OUT' && <Gate run={run} />}
        {state === 'ROLLING_OUT' && nextAt !== null && (
          <p class="quiet">
            Next step <RelativeTime at={nextAt} isAhead />
          </p>
        )}
      </div>
    </div>
  )
}

function StoppedBy({ by, name }: { by: string | null; name: string | null }) {
  if (by === null || by === 'gate') return null
  // Whoever may not list keys sees the name as well.
  if (name !== null) return <> (key {name})</>
  return <> ({by === 'stop rule' ? 'stop rule' : <Maker createdBy={by} />})</>
}

/** The executions that a stop rule has counted, or the unsuccessful ones if a gate stayed closed. */
function Causes({ run: { runId, counts }, cause }: { run: Run; cause: RolloutProgress['pausedCause'] }) {
  if (cause === null || (cause.rule !== 'STOP_RULE' && cause.rule !== 'GATE_TIMEOUT')) return null
  const { on, executions } = cause
  const states = (on.length > 0 ? on : failedStates).filter((state) => counts[state] > 0)
  const total = states.reduce((sum, state) => sum + counts[state], 0)
  if (total === 0) return null
  return (
    <>
      {executions.length > 0 && (
        <ul class="rollout-causes" aria-label="Devices that caused it">
          {executions.map(({ jobExecutionId, deviceId, execState }) => (
            <li key={jobExecutionId}>
              <a href={`/executions/${jobExecutionId}`}>
                <bdi>{deviceId}</bdi>
              </a>{' '}
              {stateStyles[execState].word}
            </li>
          ))}
        </ul>
      )}
      <p>
        <a href={`/executions?runId=${runId}&execState=${states.join()}`}>
          Show the {total === 1 ? 'execution' : `${formatCount(total)} executions`} that caused it
        </a>
      </p>
    </>
  )
}

/** What the next wave waits for, in the words of the server. */
function Gate({ run: { runId, total, rollout } }: { run: Run }) {
  const isHeld = rollout !== null && rollout.released < total
  const { data } = useQuery({ ...queries.whyHeld(runId), enabled: isHeld })
  return isHeld && data ? <p class="quiet">{data}</p> : null
}

function Waves({ rollout: { waves, wave: current } }: { rollout: RolloutProgress }) {
  return (
    <ol class="waves" aria-label="Waves">
      {waves.map((wave, index) => (
        <li key={index} aria-current={index + 1 === current ? 'step' : undefined}>
          <span class="wave-name">Wave {index + 1}</span>
          <span>
            {formatCount(wave.released)} of {formatCount(wave.size)} released
          </span>
          <span class={partsOf(wave).failed > 0 ? 'has-failures' : ''}>{partsInWords(partsOf(wave))}</span>
          <span class="quiet">{timeOf(wave, index === waves.length - 1)}</span>
        </li>
      ))}
    </ol>
  )
}

function timeOf({ startedAt, passedAt }: RolloutProgress['waves'][number], isLast: boolean) {
  if (startedAt === null) return 'not started'
  if (passedAt !== null && !isLast) {
    return (
      <>
        gate opened <RelativeTime at={passedAt} />
      </>
    )
  }
  return (
    <>
      started <RelativeTime at={startedAt} />
      {!isLast && ', gate closed'}
    </>
  )
}
