// The rollout on the page of a run: its state with the reason, actions, and a picture of its waves.

import './rollout.css'
import type { RolloutProgress, Run } from '@jobcast/client'
import { Icon } from '../parts/icon.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Maker } from '../parts/maker.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { formatTimeWithZone, now, parseTime } from '../parts/time.ts'
import { RolloutPicture } from './rollout-picture.tsx'

export default function RolloutPart({ run }: { run: Run }) {
  const { rollout } = run
  if (rollout === null) return null
  return (
    <section class="panel rollout" aria-labelledby="rollout">
      <header>
        <h2 id="rollout">Rollout</h2>
      </header>
      <StateNote run={run} rollout={rollout} />
      {isUnderWay(rollout) && <RolloutButtons run={run} />}
      <RolloutPicture run={run} rollout={rollout} />
    </section>
  )
}

// Loaded on demand, because most rollouts are finished or need no action.
const RolloutButtons = lazyPart<{ run: Run }>(() => import('./rollout-buttons.tsx'))
const Decisions = lazyPart<{ run: Run }>(() => import('./decisions.tsx'))
const Causes = lazyPart<{ run: Run; cause: RolloutProgress['pausedCause'] }>(() => import('./causes.tsx'))
const FailingNote = lazyPart<{ failing: NonNullable<RolloutProgress['failing']> }>(
  () => import('../parts/failing-note.tsx'),
)

function isUnderWay({ state }: RolloutProgress): boolean {
  return state === 'ROLLING_OUT' || state === 'PAUSED' || state === 'AWAITING_APPROVAL'
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

/** With a rate the next step is always near, and says nothing. */
const soonMs = 5000

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
        {isStopped && rollout.pausedCause && <Causes run={run} cause={rollout.pausedCause} />}
        {state === 'SCHEDULED' && nextAt !== null && (
          <p>
            Starts <RelativeTime at={nextAt} isAhead />, {formatTimeWithZone(parseTime(nextAt))}
          </p>
        )}
        {failing && <FailingNote failing={failing} />}
        {state === 'ROLLING_OUT' && nextAt !== null && parseTime(nextAt) > now.value + soonMs && (
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
