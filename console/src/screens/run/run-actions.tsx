import { isEnd, type Run } from '@jobcast/client'
import { jobcast } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { queryCache } from '../../api/query-cache.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { formatCount, stateOrder } from '../../parts/exec-state.ts'
import { useScopes } from '../../scopes.ts'
import { RetryRun } from './retry-run.tsx'
import { RollBackRun } from './roll-back-run.tsx'
import { WatchRun } from './watch-run.tsx'

export function unsuccessfulOf({ counts }: Run): number {
  return stateOrder.reduce(
    (sum, state) => (isEnd(state) && state !== 'SUCCEEDED' ? sum + counts[state] : sum),
    0,
  )
}

export function RunActions({ run }: { run: Run }) {
  const { can } = useScopes()
  const { runId, counts, finished } = run
  const open = counts.PENDING + counts.IN_PROGRESS
  const cancel = async (force: boolean) => {
    queryCache.set(queries.run(runId).queryKey, await jobcast.runs.cancel(runId, { force }))
  }
  return (
    <>
      {!finished && <WatchRun run={run} />}
      {can('TRIGGER') && unsuccessfulOf(run) > 0 && <RetryRun run={run} />}
      {can('TRIGGER') && <RollBackRun run={run} />}
      {can('MANAGE') && open > 0 && (
        <ConfirmButton
          label="Cancel run"
          question={`Pending executions (${formatCount(counts.PENDING)}) are canceled immediately; devices are asked to stop running ones (${formatCount(counts.IN_PROGRESS)}). Finished executions do not change.`}
          work={() => cancel(false)}
        />
      )}
      {can('MANAGE') && !finished && open === 0 && (
        <ConfirmButton
          label="Force cancel"
          question={`${formatCount(counts.CANCELING)} devices have not confirmed yet. Their executions become CANCELED immediately, even if they are still working on them.`}
          work={() => cancel(true)}
        />
      )}
    </>
  )
}
