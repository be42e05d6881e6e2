// Items that need attention, each with a link and an action.

import './needs-you.css'
import type { Run } from '@jobcast/client'
import { jobcast } from '../api/client.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { failuresOf, formatCount } from '../parts/exec-state.ts'
import { Icon } from '../parts/icon.tsx'
import { useScopes } from '../scopes.ts'
import { isWall } from '../wall.ts'
import { CommonReason } from './common-reason.tsx'
import { type AttentionItem, titleOf } from './use-attention.ts'

const shownAtMost = 5

export default function AttentionItems({ items }: { items: AttentionItem[] }) {
  return (
    <>
      <ul>
        {items.slice(0, shownAtMost).map((item) => (
          <Item key={item.key} item={item} />
        ))}
      </ul>
      {items.length > shownAtMost && <p>and {formatCount(items.length - shownAtMost)} more</p>}
    </>
  )
}

function Item({ item }: { item: AttentionItem }) {
  return (
    <li>
      <Icon name="warning" />
      <p>
        <strong>
          <bdi>{titleOf(item)}</bdi>
        </strong>{' '}
        <About item={item} />
      </p>
      {!isWall.value && (
        <div class="actions">
          <a class="button" href={hrefOf(item)}>
            Review
          </a>
          {item.kind === 'paused-run' && <Steering run={item.run} />}
        </div>
      )}
    </li>
  )
}

function hrefOf(item: AttentionItem): string {
  switch (item.kind) {
    case 'paused-run':
    case 'approval':
      return `/runs/${item.run.runId}`
    case 'webhook':
      return `/webhooks/${encodeURIComponent(item.webhook.webhookName)}`
    case 'schedule':
      return `/schedules/${encodeURIComponent(item.schedule.scheduleName)}`
    case 'bridge':
      return '/bridges'
  }
}

function About({ item }: { item: AttentionItem }) {
  switch (item.kind) {
    case 'paused-run':
      return <PausedRun run={item.run} />
    case 'approval':
      return (
        <>
          on {formatCount(item.run.total)} {item.run.total === 1 ? 'device' : 'devices'}
        </>
      )
    case 'schedule':
      return <bdi>{item.schedule.pausedBecause}</bdi>
    case 'bridge':
      return <bdi>{item.bridge.lastError}</bdi>
    default:
      return null
  }
}

/** The wave, the cause, and the most frequent reason of devices. */
function PausedRun({ run }: { run: Run }) {
  const { counts, rollout } = run
  return (
    <>
      {rollout !== null && rollout.waves.length > 1 && `in wave ${rollout.wave} of ${rollout.waves.length}: `}
      <bdi>{rollout?.pausedBecause}</bdi>
      {failuresOf(counts) > 0 && (
        <span class="quiet common-reason">
          <CommonReason run={run} />
        </span>
      )}
    </>
  )
}

function Steering({ run: { runId } }: { run: Run }) {
  const { can } = useScopes()
  if (!can('MANAGE')) return null
  const act = (work: () => Promise<unknown>) => async () => {
    await work()
    void refreshKeys(['approvals'], ['runs'], ['run', runId])
  }
  return (
    <>
      <ConfirmButton
        label="Resume"
        isHarmless
        question="The run continues where it was paused. Stop rules count only executions that end from now on."
        work={act(() => jobcast.runs.resume(runId))}
      />
      <ConfirmButton
        label="Cancel"
        confirm="Cancel run"
        question="Pending executions are canceled immediately; devices are asked to stop running ones. Finished executions do not change."
        work={act(() => jobcast.runs.cancel(runId, { force: false }))}
      />
    </>
  )
}
