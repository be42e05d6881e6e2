// The next runs of a schedule, in its own zone and in that of the browser.

import type { Schedule } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { timeZone as ownZone, parseTime } from '../../parts/time.ts'
import { formatInZone } from '../../parts/zoned-time.ts'
import { matchInWords } from './when-in-words.ts'

const minuteMs = 60_000

export function NextTimes({ schedule }: { schedule: Schedule }) {
  const { scheduleName, when, paused } = schedule
  const { data, error } = useQuery({
    ...queries.scheduleTimes(scheduleName, 10),
    enabled: !when.match,
    refetchInterval: minuteMs,
  })
  const zone = when.cron === undefined ? ownZone : (when.timeZone ?? 'UTC')
  return (
    <section class="panel" aria-labelledby="next-times">
      <header>
        <h2 id="next-times">{when.match ? 'Next times' : `Next occurrences, in ${zone} time`}</h2>
      </header>
      {when.match && <p class="quiet">{matchInWords(when)}</p>}
      {paused && (
        <p class="quiet">The schedule is paused. If it were resumed, it would run at these times.</p>
      )}
      <ErrorNote error={error} />
      {data?.length === 0 && <p class="quiet">There are no further occurrences.</p>}
      <ol class="times">
        {data?.map(({ at }) => (
          <li key={at}>
            <span>{formatInZone(parseTime(at), zone)}</span>
            <span class="quiet">
              <RelativeTime at={at} isAhead />
              {zone !== ownZone && `; ${formatInZone(parseTime(at), ownZone)} ${ownZone}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
