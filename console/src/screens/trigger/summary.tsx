// The summary of the trigger with counts, and its button.

import { useMemo } from 'preact/hooks'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { Icon } from '../../parts/icon.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { countSelection, type Directory } from './directory.ts'
import type { PlanPartProps } from './plan-part.tsx'
import { isDevicesError, isShownAtField } from './trigger-errors.tsx'
import type { RunDraft } from './use-run-draft.ts'
import type { Trigger } from './use-trigger.ts'

/** Loaded on demand, because only a rollout needs a plan. */
const PlanPart = lazyPart<PlanPartProps>(() => import('./plan-part.tsx'))

type SummaryProps = {
  jobName: string
  deviceIds: string[]
  directory: Directory
  trigger: Trigger
  onRemove: (deviceIds: Iterable<string>) => void
  draft: RunDraft
}

export function Summary(props: SummaryProps) {
  const { jobName, deviceIds, directory, trigger, onRemove, draft } = props
  const counts = useMemo(
    () => countSelection(new Set(deviceIds), directory.byId),
    [deviceIds, directory.byId],
  )
  const isChosen = jobName !== '' && deviceIds.length > 0
  const isReady = isChosen && !draft.isWrong && (!draft.isPlanned || draft.plan !== undefined)
  const size = `${formatCount(deviceIds.length)} ${deviceIds.length === 1 ? 'device' : 'devices'}`
  return (
    <section class="panel summary" aria-labelledby="summary">
      <header>
        <h2 id="summary">{deviceIds.length === 0 ? 'No devices chosen' : `${size} chosen`}</h2>
        {deviceIds.length > 0 && (
          <button type="button" class="ghost clear" onClick={() => onRemove(deviceIds)}>
            Clear
          </button>
        )}
      </header>
      {directory.isRead && (
        <dl class="selection-counts" aria-live="polite">
          <Count term="online" value={counts.online} about="receive it immediately" />
          <Count term="offline" value={counts.offline} about="receive it when they reconnect" />
          <Count term="busy" value={counts.busy} about="finish other work first" />
          {counts.unknown > 0 && <Count term="unknown" value={counts.unknown} about="not found" isBad />}
        </dl>
      )}
      <Chosen deviceIds={deviceIds} onRemove={onRemove} />
      {draft.isPlanned && <PlanPart draft={draft} />}
      {!isShownAtField(trigger.error) && !isDevicesError(trigger.error) && (
        <ErrorNote error={trigger.error} />
      )}
      {trigger.createdRun !== undefined && <p role="status">Run {trigger.createdRun} created.</p>}
      <TriggerButton jobName={jobName} isReady={isReady} size={size} trigger={trigger} />
      {!isChosen && <p class="quiet">{jobName === '' ? 'Choose a job' : 'Choose devices'} first.</p>}
      {isChosen && !draft.areParametersRight && <p class="quiet">Fill in the parameters first.</p>}
    </section>
  )
}

export function TriggerButton({
  jobName,
  isReady,
  size,
  trigger,
}: Pick<SummaryProps, 'jobName' | 'trigger'> & { isReady: boolean; size: string }) {
  return (
    <button
      type="button"
      class="primary"
      disabled={!isReady || trigger.isRunning}
      aria-busy={trigger.isRunning}
      onClick={trigger.run}
    >
      <Icon name="trigger" />
      {isReady ? (
        <span>
          Trigger <bdi>{jobName}</bdi> on {size}
        </span>
      ) : (
        'Trigger'
      )}
    </button>
  )
}

export function Count({
  term,
  value,
  about,
  isBad,
}: {
  term: string
  value: number
  about: string
  isBad?: boolean
}) {
  return (
    <div class={isBad ? 'bad' : value === 0 ? 'none' : ''}>
      <dt>
        {term}
        <span class="quiet">{about}</span>
      </dt>
      <dd class="number">{formatCount(value)}</dd>
    </div>
  )
}

const chipsAtMost = 24

function Chosen({ deviceIds, onRemove }: Pick<SummaryProps, 'deviceIds' | 'onRemove'>) {
  if (deviceIds.length === 0) return null
  return (
    <div class="chosen">
      {deviceIds.slice(0, chipsAtMost).map((deviceId) => (
        <button
          key={deviceId}
          type="button"
          class="tag"
          aria-label={`Remove ${deviceId}`}
          onClick={() => onRemove([deviceId])}
        >
          {deviceId}
          <Icon name="close" />
        </button>
      ))}
      {deviceIds.length > chipsAtMost && (
        <span class="quiet">and {formatCount(deviceIds.length - chipsAtMost)} more</span>
      )}
    </div>
  )
}
