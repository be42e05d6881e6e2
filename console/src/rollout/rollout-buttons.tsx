// The actions on a rollout in its state. Actions that the key may not use are disabled, with the reason next to them.

import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { queryCache } from '../api/query-cache.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { useScopes } from '../scopes.ts'
import { whyNotApprove } from './why-not-approve.ts'

export default function RolloutButtons({ run }: { run: Run }) {
  const { can } = useScopes()
  const state = run.rollout?.state
  if (state === 'AWAITING_APPROVAL') {
    const answers = (
      <>
        <ApprovalButtons run={run} />
        {can('MANAGE') && <ChangeButton run={run} isDisabled={false} />}
      </>
    )
    return <Buttons why={whyNotApprove(run)} of={answers} />
  }
  if (state !== 'ROLLING_OUT' && state !== 'PAUSED') return null
  const why = can('MANAGE')
    ? undefined
    : 'To pause, resume, advance or change it, a key needs the MANAGE scope.'
  return <Buttons why={why} of={<Steering run={run} isDisabled={why !== undefined} />} />
}

function Buttons({ why, of }: { why: string | undefined; of: preact.ComponentChildren }) {
  return (
    <div class="rollout-buttons">
      {of}
      {why && <p class="quiet">{why}</p>}
    </div>
  )
}

const ApprovalButtons = lazyPart<{ run: Run }>(() => import('./approval-buttons.tsx'))
const ResumeWithout = lazyPart<{ run: Run; onClose: () => void }>(() => import('./resume-without.tsx'))
const ChangeRollout = lazyPart<{ run: Run; onClose: () => void }>(() => import('./change-rollout.tsx'))

function ChangeButton({ run, isDisabled }: { run: Run; isDisabled: boolean }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" disabled={isDisabled} onClick={() => setOpen(true)}>
        Change…
      </button>
      {isOpen && <ChangeRollout run={run} onClose={() => setOpen(false)} />}
    </>
  )
}

function ResumeWithoutButton({ run, isDisabled }: { run: Run; isDisabled: boolean }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" disabled={isDisabled} onClick={() => setOpen(true)}>
        Resume without…
      </button>
      {isOpen && <ResumeWithout run={run} onClose={() => setOpen(false)} />}
    </>
  )
}

function Steering({ run, isDisabled }: { run: Run; isDisabled: boolean }) {
  const { runId, rollout } = run
  if (rollout === null) return null
  const next = rollout.waves[rollout.wave]
  const act = (name: 'pause' | 'resume' | 'advance') => async () => {
    queryCache.set(queries.run(runId).queryKey, await jobcast.runs[name](runId))
  }
  return (
    <>
      {rollout.state === 'ROLLING_OUT' ? (
        <ConfirmButton
          label="Pause"
          isHarmless
          isDisabled={isDisabled}
          question="No more executions are released until somebody resumes the run. Released executions continue."
          work={act('pause')}
        />
      ) : (
        <>
          <ConfirmButton
            label="Resume"
            isHarmless
            isPrimary
            isDisabled={isDisabled}
            question="The run continues where it was paused. Stop rules count only executions that end from now on."
            work={act('resume')}
          />
          <ResumeWithoutButton run={run} isDisabled={isDisabled} />
        </>
      )}
      {next && (
        <ConfirmButton
          label="Advance"
          confirm={`Start wave ${rollout.wave + 1}`}
          isDisabled={isDisabled}
          question={`Wave ${rollout.wave + 1} of ${rollout.waves.length} starts now on ${formatCount(next.size)} ${next.size === 1 ? 'device' : 'devices'}, even if its gate is closed. This cannot be undone.`}
          work={act('advance')}
        />
      )}
      <ChangeButton run={run} isDisabled={isDisabled} />
    </>
  )
}
