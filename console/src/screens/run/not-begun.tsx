// Shown instead of an empty chart: the reason why no device of a run has begun.

import type { Run } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { withLocalTimes } from '../../parts/time.ts'

/** There is no event of the run when a window opens or a device connects. */
const pollMs = 30_000

export default function NotBegun({ run: { runId, total } }: { run: Run }) {
  const { data } = useQuery({ ...queries.whyWaiting(runId), refetchInterval: pollMs })
  if (!data) return null
  return (
    <p class="not-begun">
      {total > 1 && data.deviceId !== null && (
        <>
          <bdi>{data.deviceId}</bdi>:{' '}
        </>
      )}
      {withLocalTimes(data.text)}
      {data.until !== null && (
        <>
          {' '}
          (<RelativeTime at={data.until} isAhead />)
        </>
      )}
    </p>
  )
}
