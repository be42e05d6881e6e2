// Why executions of a run did not succeed, grouped: forty failures are often one.

import type { Run } from '@jobcast/client'
import { useQuery } from '../../api/use-query.ts'
import { failuresOf, formatCount, stateStyles } from '../../parts/exec-state.ts'
import { progressQuery, type Spans } from './progress.ts'

const shownAtMost = 8

export function FailureReasons({ run }: { run: Run }) {
  const { data } = useQuery(progressQuery(run.runId))
  const reasons = data ? groupReasons(data) : []
  if (failuresOf(run.counts) < 2 || reasons.length === 0) return null
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
    </section>
  )
}

/** Most frequent first; without a reason the state is one. */
export function groupReasons(spans: Spans): { reason: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { execState, reason } of spans.values()) {
    if (stateStyles[execState].tone !== 'bad') continue
    const name = reason || `${stateStyles[execState].word}, no reason given`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Array.from(counts, ([reason, count]) => ({ reason, count })).sort(
    (a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1),
  )
}
