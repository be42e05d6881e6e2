import type { RunPlan } from '@jobcast/client'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { withLocalTimes } from '../../parts/time.ts'
import { isShownAtField } from './trigger-errors.tsx'
import type { RunDraft } from './use-run-draft.ts'

/** In which steps devices get it, by the dry run. */
export function PlanWaves({ plan }: { plan: RunPlan | undefined }) {
  if (plan === undefined || plan.waves.length < 2) return null
  return (
    <ol class="plan-waves" aria-label="Planned waves">
      {plan.waves.map(({ size, sample }, index) => (
        <li key={index}>
          Wave {index + 1}: {formatCount(size)} {size === 1 ? 'device' : 'devices'}{' '}
          <span class="quiet">
            <bdi>{sample[0]}</bdi>
            {size > 1 && ', …'}
          </span>
        </li>
      ))}
    </ol>
  )
}

/** What will hold the run back, and what the dry run finds wrong, unless a field says it. */
export function PlanProblems({ draft: { plan, planError } }: { draft: RunDraft }) {
  return (
    <>
      {plan && plan.holds.length > 0 && (
        <ul class="plan-holds" aria-label="What will hold it back">
          {plan.holds.map(({ code, text }) => (
            <li key={code}>{withLocalTimes(text)}</li>
          ))}
        </ul>
      )}
      {plan?.problems.map((problem) => (
        <p class="field-error" key={problem}>
          {problem}
        </p>
      ))}
      {!isShownAtField(planError) && <ErrorNote error={planError} />}
    </>
  )
}
