// The rollout on the page of a run: its state and why, the bar, what can be done, and the waves one by one.

import './rollout.css'
import type { RolloutProgress, Run } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { failedStates, formatCount, stateStyles } from '../parts/exec-state.ts'
import { Icon } from '../parts/icon.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { formatTimeWithZone, parseTime } from '../parts/time.ts'
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

// Most rollouts need none of them.
const Decisions = lazyPart<{ run: Run }>(() => import('./decisions.tsx'))
const FailingNote = lazyPart<{ failing: NonNullable<RolloutProgress['failing']> }>(
  () => import('../parts/failing-note.tsx'),
)

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
        {(run.approvals.length > 0 || rollout.approval !== null) && <Decisions run={run} />}
        {isStopped && <Causes run={run} cause={rollout.pausedCause} />}
        {state === 'SCHEDULED' && nextAt !== null && (
          <p>
            Starts <RelativeTime at={nextAt} isAhead />, {formatTimeWithZone(parseTime(nextAt))}
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
  return <> ({by === 'stop rule' ? 'stop rule' : <Maker createdBy={by} createdByName={name} />})</>
}

const failureRules = ['STOP_RULE', 'GATE_CLOSED', 'GATE_TIMEOUT']

/** The executions that a stop rule or a gate has counted, or all unsuccessful ones if a gate stayed closed for too long. */
function Causes({ run: { runId, counts }, cause }: { run: Run; cause: RolloutProgress['pausedCause'] }) {
  if (cause === null || !failureRules.includes(cause.rule)) return null
  const { on, executions, count } = cause
  const states = (on.length > 0 ? on : failedStates).filter((state) => counts[state] > 0)
  const total = states.reduce((sum, state) => sum + counts[state], 0)
  if (total === 0) return null
  const unnamed = (count ?? 0) - executions.length
  // What was accepted by an earlier resume is in the list behind the link, but not counted.
  const isWhole = count === null || count === total
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
          {unnamed > 0 && cause.of !== 'SCHEDULE' && <li>and {formatCount(unnamed)} more</li>}
        </ul>
      )}
      <p>
        <a href={`/executions?runId=${runId}&execState=${states.join()}`}>
          {isWhole
            ? `Show the ${total === 1 ? 'execution' : `${formatCount(total)} executions`} that caused it`
            : 'Show all executions of the run in these states'}
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
