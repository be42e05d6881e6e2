// Statistics for callers restricted to devices: the executions of these devices, of the newest runs of the range. All executions of
// these runs are read, so there is a limit for them as well.

import type { Selector } from '@jobcast/contract/selector'
import type { Store } from '../common/ports/store.ts'
import type { Duration, LaunchedCounts, StatsQuestion, StoredStats } from './ports/stats.ts'
import { inParts } from './run-parts.ts'

const maxRuns = 20_000
/** The newest run is always read, even if it has more. */
const maxExecutions = 200_000

export async function readStatsWithin(
  store: Store,
  { where, ...question }: StatsQuestion & { where: Selector },
): Promise<StoredStats> {
  const { stepMs, maxDurations, ...ofRuns } = question
  const { ownerNo, from } = ofRuns
  const { runs, isComplete } = await store.listLaunchedRuns({ ...ofRuns, maxRuns, maxExecutions })
  const launchedOf = new Map(
    runs.map(({ runId, jobName, launchedAt }) => [
      runId,
      { jobName, stepNo: Math.floor((launchedAt - from) / stepMs) },
    ]),
  )
  const parts = [...inParts(runs)]
  const launched: LaunchedCounts[] = []
  for (const runIds of parts) {
    for (const { runId, total, counts } of await store.countRunsWithin({ ownerNo, runIds, where })) {
      const run = launchedOf.get(runId)
      if (run) launched.push({ ...run, total, counts })
    }
  }
  const succeeded = launched.reduce((sum, { counts }) => sum + counts.SUCCEEDED, 0)
  const stride = Math.max(1, Math.ceil(succeeded / maxDurations))
  const durations: Duration[] = []
  for (const runIds of succeeded > 0 ? parts : []) {
    for (const { runId, ms } of await store.listDurationsWithin({ ownerNo, runIds, where, stride })) {
      const run = launchedOf.get(runId)
      if (run) durations.push({ ...run, ms })
    }
  }
  return { launched, durations, completeFrom: isComplete ? undefined : runs.at(-1)?.launchedAt }
}
