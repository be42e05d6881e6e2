// The result of the trigger's dry run: the waves, what will hold the run back, and problems.

import type { RunPlan } from '@jobcast/client'
import { useEffect, useRef } from 'preact/hooks'
import { ErrorNote } from '../../parts/error-note.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { withLocalTimes } from '../../parts/time.ts'
import type { PlanPictureProps } from '../../rollout/plan-picture.tsx'
import { withSizes } from '../../rollout/rollout-draft.ts'
import { isShownAtField } from './trigger-errors.tsx'
import type { RunDraft } from './use-run-draft.ts'

const PlanPicture = lazyPart<PlanPictureProps>(() => import('../../rollout/plan-picture.tsx'))

export type PlanPartProps = { draft: RunDraft }

export default function PlanPart({ draft }: PlanPartProps) {
  return (
    <>
      <PlanWaves draft={draft} />
      <PlanProblems draft={draft} />
    </>
  )
}

/** A moved gate causes a new plan; until then the previous one is shown. */
function PlanWaves({ draft }: PlanPartProps) {
  const { plan, planError, rollout, setRollout, definition, isWrong } = draft
  const last = useRef<RunPlan>(undefined)
  useEffect(() => {
    if (plan || planError || isWrong) last.current = plan
  }, [plan, planError, isWrong])
  const shown = plan ?? (planError || isWrong ? undefined : last.current)
  if (shown === undefined || shown.total === 0 || (shown.waves.length < 2 && !rollout.isOn)) return null
  const onSizes = rollout.isOn ? (sizes: number[]) => setRollout(withSizes(rollout, sizes)) : undefined
  return <PlanPicture plan={shown} isOutdated={plan === undefined} rollout={definition} onSizes={onSizes} />
}

/** What will hold the run back, and problems that are not shown at a field. */
function PlanProblems({ draft: { plan, planError } }: PlanPartProps) {
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
