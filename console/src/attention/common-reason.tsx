// The most frequent reason why devices of a run failed: "mostly disk full (7 of 12)".

import type { Run } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { failuresOf, formatCount } from '../parts/exec-state.ts'

export function CommonReason({ run: { runId, counts } }: { run: Run }) {
  const failures = failuresOf(counts)
  const { data } = useQuery({ ...queries.failuresOf(runId, failures), enabled: failures > 0 })
  const reason = data?.reasons[0]
  if (!reason) return null
  return (
    <>
      mostly <bdi>{reason.reason}</bdi> ({formatCount(reason.count)} of {formatCount(failures)})
    </>
  )
}
