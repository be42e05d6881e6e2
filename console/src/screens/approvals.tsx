// Runs that wait for the approval of another principal than their creator.

import './approvals.css'
import type { Run } from '@jobcast/client'
import { useApprovals } from '../api/use-approvals.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { PageHeader } from '../parts/page-header.tsx'
import { principalWord } from '../parts/principal-word.ts'
import { RelativeTime } from '../parts/relative-time.tsx'
import ApprovalButtons from '../rollout/approval-buttons.tsx'
import Decisions from '../rollout/decisions.tsx'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'

export default function ApprovalsScreen({ route }: ScreenProps) {
  const { can } = useScopes()
  const { runs, forOthers, hasMore, error, refetch } = useApprovals()
  return (
    <>
      <PageHeader title={route.title} />
      {!can('READ') && (
        <EmptyState icon="good" title="To see pending approvals, a key also needs the READ scope" />
      )}
      {!runs && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {runs?.length === 0 && (
        <section class="panel" aria-label="Approvals">
          <EmptyState icon="good" title="Nothing to approve">
            <p>Runs that need the approval of someone who did not create, change or fire them appear here.</p>
          </EmptyState>
        </section>
      )}
      {runs && runs.length > 0 && (
        <ol class="approvals panel" aria-label="Approvals">
          {runs.map((run) => (
            <Waiting key={run.runId} run={run} />
          ))}
        </ol>
      )}
      {hasMore && <p class="quiet">Only the newest runs are shown.</p>}
      {forOthers.length > 0 && (
        <p class="quiet">
          {forOthers.length === 1 ? '1 run waits' : `${formatCount(forOthers.length)} runs wait`} for someone
          else: you created, changed, fired or already approved {forOthers.length === 1 ? 'it' : 'them'}.
        </p>
      )}
    </>
  )
}

function Waiting({ run }: { run: Run }) {
  const { runId, jobName, total, launchedAt, createdBy, createdByName, where, note, rollout } = run
  const waves = rollout?.waves ?? []
  const hasBegun = waves[0]?.startedAt != null
  const devices = (count: number) => `${formatCount(count)} ${count === 1 ? 'device' : 'devices'}`
  return (
    <li>
      <div class="approval-about">
        <p>
          <a href={`/runs/${runId}`}>
            <strong>
              <bdi>{jobName}</bdi>
            </strong>{' '}
            on {devices(total)}
          </a>{' '}
          <span class="quiet">
            run {runId}, created <RelativeTime at={launchedAt} />
            {createdByName !== null && (
              <>
                {' '}
                by {principalWord(createdBy)}
                <bdi>{createdByName}</bdi>
              </>
            )}
          </span>
        </p>
        {note !== null && <p>{note}</p>}
        <Decisions run={run} />
        <p class="quiet">
          {hasBegun
            ? `Wave ${rollout?.wave} of ${waves.length} is done, ${formatCount(rollout?.released ?? 0)} released`
            : waves.length > 1
              ? `${waves.length} waves: ${sizes(waves)}`
              : 'To all devices immediately'}
          {where !== null && (
            <>
              , selected by <code>{where}</code>
            </>
          )}
        </p>
      </div>
      <div class="actions">
        <ApprovalButtons run={run} />
      </div>
    </li>
  )
}

const sizesShown = 6

function sizes(waves: { size: number }[]): string {
  const first = waves.slice(0, sizesShown).map(({ size }) => formatCount(size))
  return `${first.join(', ')}${waves.length > sizesShown ? ', …' : ''}`
}
