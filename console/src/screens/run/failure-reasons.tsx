// Why executions of a run did not succeed, grouped: forty failures are often one.

import type { Execution, Run } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { failuresOf, formatCount, stateStyles } from '../../parts/exec-state.ts'

const shownAtMost = 8
/** So many failures are read again with each new one; more of them every ten seconds. */
const readEach = 50
const readEveryMs = 10_000

export function FailureReasons({ run }: { run: Run }) {
  const failures = failuresOf(run.counts)
  const { data } = useQuery({
    ...queries.failuresOf(run.runId, run.finished ? failures : Math.min(failures, readEach)),
    enabled: failures > 1,
    ...(!run.finished && failures > readEach && { refetchInterval: readEveryMs }),
  })
  const reasons = data ? groupReasons(data.items) : []
  if (failures < 2 || reasons.length === 0) return null
  return (
    <section aria-labelledby="reasons" class="reasons">
      <h2 id="reasons">Failures by reason</h2>
      <ol>
        {reasons.slice(0, shownAtMost).map(({ reason, count }) => (
          <li key={reason}>
            <bdi>{reason}</bdi> <span class="quiet">× {formatCount(count)}</span>
          </li>
        ))}
      </ol>
      {reasons.length > shownAtMost && (
        <p class="quiet">and {formatCount(reasons.length - shownAtMost)} more reasons</p>
      )}
      {data?.hasMore && <p class="quiet">Of the newest {formatCount(data.items.length)} failures.</p>}
    </section>
  )
}

/** Most frequent first; without a reason the state is one. */
function groupReasons(
  executions: Pick<Execution, 'execState' | 'statusDetails'>[],
): { reason: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { execState, statusDetails } of executions) {
    const name = statusDetails.reason || `${stateStyles[execState].word}, no reason given`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Array.from(counts, ([reason, count]) => ({ reason, count })).sort(
    (a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1),
  )
}
