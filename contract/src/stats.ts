// Counts over time: of one run, and of all executions launched in a time range.

import Type, { type Static } from 'typebox'
import { execStates } from './exec-state.ts'
import { Counts, type ExecState } from './execution.ts'
import { GivenInstant, Instant, Name, orNull } from './text.ts'

const buckets = (defaultValue: number) =>
  Type.Integer({
    minimum: 1,
    maximum: 500,
    default: defaultValue,
    description: 'At most this many buckets of equal length',
  })

export const TimelineQuery = Type.Object({ buckets: buckets(120) }, { additionalProperties: false })
export type TimelineQuery = Static<typeof TimelineQuery>

export const RunTimeline = Type.Object(
  {
    runId: Type.Integer(),
    from: Type.String({ ...Instant, description: 'When the run was launched' }),
    until: Type.String({ ...Instant, description: 'When it finished, or now' }),
    stepMs: Type.Integer({ description: 'Length of a bucket; the last one may be shorter' }),
    total: Type.Integer(),
    sampled: Type.Integer({
      description:
        'How many executions were read. If fewer than `total`, counts are extrapolated; the last bucket is exact',
    }),
    counts: Type.Unsafe<Partial<Record<ExecState, number[]>>>(
      Type.Object(
        Object.fromEntries(execStates.map((state) => [state, Type.Optional(Type.Array(Type.Integer()))])),
        {
          description:
            'For each state that occurred: how many executions were in it at the end of each bucket',
        },
      ),
    ),
  },
  { title: 'RunTimeline' },
)
export type RunTimeline = Static<typeof RunTimeline>

export const StatsQuery = Type.Object(
  {
    launchedAfter: Type.Optional(
      Type.String({
        ...GivenInstant,
        description: 'Start of the range; default: one day before its end',
      }),
    ),
    launchedBefore: Type.Optional(
      Type.String({ ...GivenInstant, description: 'End of the range; default: now' }),
    ),
    jobName: Type.Optional(Type.String({ ...Name, description: 'Only executions of this job' })),
    buckets: buckets(48),
  },
  { additionalProperties: false },
)
export type StatsQuery = Static<typeof StatsQuery>

const figures = {
  total: Type.Integer({ description: 'Executions launched' }),
  counts: Counts,
  successRate: orNull(Type.Number({ examples: [0.98] }), {
    description:
      'SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these',
  }),
  durationMs: orNull(Type.Object({ p50: Type.Integer(), p95: Type.Integer() }), {
    description: 'From start to end of executions that SUCCEEDED; null if there are none in the sample',
  }),
}

export const Stats = Type.Object(
  {
    from: Instant,
    until: Instant,
    stepMs: Type.Integer({ description: 'Length of a bucket; the last one may be shorter' }),
    completeFrom: Type.String({
      ...Instant,
      description:
        'Later than `from` if there were too many runs to read: what was launched before is not counted',
    }),
    sampled: Type.Integer({ description: 'How many executions the durations are taken from' }),
    overall: Type.Object(figures),
    buckets: Type.Array(Type.Object({ from: Instant, ...figures }), { description: 'Oldest first' }),
    jobs: Type.Array(Type.Object({ jobName: Type.String(), ...figures }), {
      description: 'By job, the one with the most executions first; at most 50',
    }),
  },
  { title: 'Stats', description: 'An execution counts in the bucket in which it was launched' },
)
export type Stats = Static<typeof Stats>
