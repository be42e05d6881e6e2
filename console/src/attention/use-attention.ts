// Items that need attention: stopped rollouts, runs that wait for an approval this key can give, webhooks that cannot
// deliver, schedules that the service has paused, and failing bridges. Read from their lists, which are refreshed by events and a timer.

import type { Bridge, Run, Schedule, Webhook } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useApprovals } from '../api/use-approvals.ts'
import { useQuery } from '../api/use-query.ts'
import { isFailing } from '../parts/failing-webhooks.tsx'
import { useScopes } from '../scopes.ts'

/** There is no event when webhooks and bridges begin to fail. */
const pollMs = 60_000

export type AttentionItem =
  | { kind: 'paused-run'; key: string; run: Run }
  | { kind: 'approval'; key: string; run: Run }
  | { kind: 'webhook'; key: string; webhook: Webhook }
  | { kind: 'schedule'; key: string; schedule: Schedule }
  | { kind: 'bridge'; key: string; bridge: Bridge }

/** Undefined while loading. */
export function useAttention(): AttentionItem[] | undefined {
  const { can, isRestricted } = useScopes()
  const polled = { enabled: can('READ'), refetchInterval: pollMs, staleTime: pollMs }
  // Refused to restricted keys.
  const ofOwner = { ...polled, enabled: polled.enabled && !isRestricted }
  const paused = useQuery({ ...queries.pausedRuns(), ...polled })
  const approvals = useApprovals()
  const webhooks = useQuery({ ...queries.firstWebhooks(), ...polled })
  const schedules = useQuery({ ...queries.firstSchedules(), ...ofOwner })
  const bridges = useQuery({ ...queries.bridges(), ...ofOwner })
  const areRead = paused.data && webhooks.data && (isRestricted || (schedules.data && bridges.data))
  // Without this, items that are loaded later would be reported as new.
  const isAsking = can('APPROVE') && approvals.runs === undefined && !approvals.error
  if (!paused.data || !areRead || isAsking) return undefined
  return [
    ...paused.data.items.map((run) => ({ kind: 'paused-run' as const, key: `paused ${run.runId}`, run })),
    ...(approvals.runs ?? []).map((run) => ({
      kind: 'approval' as const,
      key: `approval ${run.runId}`,
      run,
    })),
    ...(webhooks.data?.items ?? [])
      .filter(isFailing)
      .map((webhook) => ({ kind: 'webhook' as const, key: `webhook ${webhook.webhookName}`, webhook })),
    ...(schedules.data?.items ?? [])
      .filter(isStopped)
      .map((schedule) => ({ kind: 'schedule' as const, key: `schedule ${schedule.scheduleName}`, schedule })),
    ...(bridges.data?.items ?? [])
      .filter(({ state, events }) => state === 'down' || events?.failingSince)
      .map((bridge) => ({ kind: 'bridge' as const, key: `bridge ${bridge.bridgeName}`, bridge })),
  ]
}

/** Excludes pauses by a person. */
function isStopped({ paused, pausedCause }: Schedule): boolean {
  return paused && pausedCause !== null && pausedCause.rule !== 'PRINCIPAL'
}

export function titleOf(item: AttentionItem): string {
  switch (item.kind) {
    case 'paused-run':
      return `${item.run.jobName} is paused`
    case 'approval':
      return `${item.run.jobName} awaits your approval`
    case 'webhook':
      return `Webhook ${item.webhook.webhookName} fails`
    case 'schedule':
      return `Schedule ${item.schedule.scheduleName} is paused`
    case 'bridge':
      return `Bridge ${item.bridge.bridgeName} fails`
  }
}
