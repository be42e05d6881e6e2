// Instead of a chart without curves: what a run waits for of which no device has begun anything.

import type { Run } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { withLocalTimes } from '../../parts/time.ts'

/** A window opens, and a device comes online, without an event of the run. */
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
