// When devices get the next runs of a schedule, at the times that the server returns: the rules of patterns are large, and only
// the form needs them.

import type { Schedule } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import DeliveryStrip from '../../delivery/delivery-strip.tsx'
import { stripMs } from '../../delivery/read-delivery.ts'
import { parseTime } from '../../parts/time.ts'
import { whereOf } from './where-of.ts'

/** The most that the server returns. */
const runsAtMost = 100

export default function SavedDelivery({ schedule }: { schedule: Schedule }) {
  const { scheduleName, jobName, targets, window, rollout } = schedule
  const { data = [] } = useQuery(queries.scheduleTimes(scheduleName, runsAtMost))
  const times = data.map(({ at }) => parseTime(at))
  const [first = 0] = times
  const runs = times.filter((time) => time < first + stripMs)
  return (
    <div class="panel schedule-delivery">
      <DeliveryStrip
        jobName={jobName}
        where={whereOf(targets)}
        windowName={window ?? undefined}
        rollout={rollout ?? undefined}
        runs={runs}
      />
      {runs.length === runsAtMost && <p class="quiet">Only the next {runsAtMost} runs are shown.</p>}
    </div>
  )
}
