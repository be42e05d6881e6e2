// The next openings of a window, in a stated time zone.

import '../schedules.css'
import type { Window } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { now, timeZone as ownZone, parseTime } from '../../parts/time.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { ZoneField, zoneProblem } from '../../parts/zone-field.tsx'
import { clockInZone, formatInZone } from '../../parts/zoned-time.ts'
import { setSearch } from '../../router.ts'
import { deviceZone } from './zone-in-words.ts'

const minuteMs = 60_000

export function NextOpenings({ window, zone }: { window: Window; zone: string }) {
  const isByDevice = window.timeZone === deviceZone
  const settled = useSettled(zone)
  const isRight = settled !== '' && zoneProblem(settled) === undefined
  const { data, error } = useQuery({
    ...queries.windowTimes(window.windowName, { count: 10, ...(isByDevice && { timeZone: settled }) }),
    enabled: isRight,
    refetchInterval: minuteMs,
  })
  const shownZone = data?.timeZone ?? zone
  return (
    <section class="panel stack" aria-labelledby="openings">
      <header>
        <h2 id="openings">Next openings, in {shownZone} time</h2>
      </header>
      {isByDevice && (
        <ZoneField
          label="For devices in"
          value={zone}
          onInput={(next) => setSearch({ zone: next })}
          hint="The window follows the local time of each device."
        />
      )}
      {isRight && <ErrorNote error={error} />}
      {data?.items.length === 0 && <p class="quiet">It never opens again.</p>}
      <ol class="times">
        {data?.items.map(({ at, until, offersUntil }) => (
          <li key={at}>
            <span>
              {formatInZone(parseTime(at), shownZone)} to {clockInZone(parseTime(until), shownZone)}
            </span>
            <span class="quiet">
              {parseTime(at) <= now.value ? 'open now' : <RelativeTime at={at} isAhead />}
              {offersUntil !== until &&
                `, nothing new from ${clockInZone(parseTime(offersUntil), shownZone)}`}
              {shownZone !== ownZone && `; ${formatInZone(parseTime(at), ownZone)} ${ownZone}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
