// The summary of a trigger with a selector: a plan of the server, which fixes the devices until it is started.

import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import PlanPart from './plan-part.tsx'
import { Count, TriggerButton } from './summary.tsx'
import { isShownAtField } from './trigger-errors.tsx'
import type { RunDraft } from './use-run-draft.ts'
import type { Trigger } from './use-trigger.ts'

export type SelectorSummaryProps = {
  jobName: string
  draft: RunDraft
  trigger: Trigger
  onClear: () => void
}

const sampleShown = 12

export default function SelectorSummary({ jobName, draft, trigger, onClear }: SelectorSummaryProps) {
  const { plan, planError, isPlanning, areParametersRight } = draft
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
          <Count term="online" value={plan.online} about="receive it immediately" />
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
      <PlanPart draft={draft} />
      {!isShownAtField(trigger.error) && <ErrorNote error={trigger.error} />}
      {trigger.createdRun !== undefined && <p role="status">Run {trigger.createdRun} created.</p>}
      <TriggerButton
        jobName={jobName}
        isReady={plan !== undefined && total > 0}
        size={size}
        trigger={trigger}
      />
      {jobName === '' && <p class="quiet">Choose a job first.</p>}
      {jobName !== '' && !plan && !planError && (
        <p class="quiet" role="status">
          {!areParametersRight
            ? 'Fill in the parameters first.'
            : isPlanning
              ? 'Counting devices.'
              : 'Enter a selector first.'}
        </p>
      )}
    </section>
  )
}
