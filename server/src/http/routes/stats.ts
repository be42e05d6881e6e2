// Counts over time, for charts: of one run, and of all executions launched in a time range.

import { parseInstant, RunParams, RunTimeline, Stats, StatsQuery, TimelineQuery } from '@jobcast/contract'
import { readStats, type StatsDeps } from '../../domain/device/read-stats.ts'
import { readTimeline, type TimelineDeps } from '../../domain/device/read-timeline.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { toRunTimeline, toStats } from '../wire/stats-to-wire.ts'

export function addStats(app: App, deps: TimelineDeps & StatsDeps): void {
  app.route({
    method: 'GET',
    url: '/job/api/runs/:runId/timeline',
    config: { scopes: ['READ'], refusals: ['J-304'] },
    schema: {
      operationId: 'getRunTimeline',
      tags: ['executions'],
      summary: 'Get how the counts of a run changed over time',
      description:
        'Counts per state at the end of each of up to 500 buckets between the launch and the end of the run, or now. Of a run ' +
        'of more than 20,000 executions a sample is read.',
      params: RunParams,
      querystring: TimelineQuery,
      response: { 200: RunTimeline },
    },
    handler: async (request) =>
      toRunTimeline(await readTimeline(deps, callerOf(request), request.params.runId, request.query.buckets)),
  })

  app.route({
    method: 'GET',
    url: '/job/api/stats',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'getStats',
      tags: ['executions'],
      summary: 'Get counts, success rate and durations of executions over time and by job',
      description:
        'Of executions launched in a range of time. Reads at most the newest 50,000 runs of the range (see `completeFrom`) ' +
        'and takes durations from at most 20,000 executions, evenly chosen.',
      querystring: StatsQuery,
      response: { 200: Stats },
    },
    handler: async (request) => {
      const { launchedAfter, launchedBefore, jobName, buckets } = request.query
      const from = launchedAfter === undefined ? undefined : parseInstant(launchedAfter)
      const until = launchedBefore === undefined ? undefined : parseInstant(launchedBefore)
      return toStats(await readStats(deps, callerOf(request), { from, until, jobName, buckets }))
    },
  })
}
