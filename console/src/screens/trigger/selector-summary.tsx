// What a trigger on selected devices will do: a plan of the server, which fixes the devices until it is carried out.

import type { RunPlan } from '@jobcast/client'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { refusedField } from '../../rollout/rollout-draft.ts'
import { PlanWaves } from './plan-waves.tsx'
import { Count, TriggerButton } from './summary.tsx'
import { jobErrorOf } from './trigger-errors.tsx'
import type { Trigger } from './use-trigger.ts'

type Props = {
  jobName: string
  plan: RunPlan | undefined
  isCounting: boolean
  error: unknown
  trigger: Trigger
  onClear: () => void
}

const sampleShown = 12

export function SelectorSummary({ jobName, plan, isCounting, error, trigger, onClear }: Props) {
  const total = plan?.total ?? 0
  const size = `${formatCount(total)} ${total === 1 ? 'device' : 'devices'}`
  const sample = plan?.waves[0]?.sample.slice(0, sampleShown) ?? []
  return (
    <section class="panel summary" aria-labelledby="summary">
      <header>
        <h2 id="summary">{plan ? `${size} selected` : 'Devices by selector'}</h2>
        <button type="button" class="ghost clear" onClick={onClear}>
          Clear
        </button>
      </header>
      {plan && (
        <dl class="selection-counts" aria-live="polite">
          <Count term="online" value={plan.online} about="receive it at once" />
          <Count term="offline" value={plan.offline} about="receive it when they reconnect" />
          <Count term="busy" value={plan.busy} about="finish other work first" />
        </dl>
      )}
      {sample.length > 0 && (
        <p class="quiet">
          {sample.map((deviceId, index) => (
            <span key={deviceId}>
              {index > 0 && ', '}
              <bdi>{deviceId}</bdi>
            </span>
          ))}
          {total > sample.length && ` and ${formatCount(total - sample.length)} more`}
        </p>
      )}
      <PlanWaves plan={plan} />
      {plan?.problems.map((problem) => (
        <p class="field-error" key={problem}>
          {problem}
        </p>
      ))}
      {refusedField(error) === undefined && <ErrorNote error={error} />}
      {jobErrorOf(trigger.error) === undefined && refusedField(trigger.error) === undefined && (
        <ErrorNote error={trigger.error} />
      )}
      {trigger.createdRun !== undefined && <p role="status">Run {trigger.createdRun} created.</p>}
      <TriggerButton
        jobName={jobName}
        isReady={plan !== undefined && total > 0}
        size={size}
        trigger={trigger}
      />
      {jobName === '' && <p class="quiet">Choose a job first.</p>}
      {jobName !== '' && !plan && !error && (
        <p class="quiet" role="status">
          {isCounting ? 'Counting devices.' : 'Enter a selector first.'}
        </p>
      )}
    </section>
  )
}
