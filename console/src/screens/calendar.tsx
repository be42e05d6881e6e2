// A week from a given day: runs of schedules and openings of windows, in a selected time zone.

import './calendar.css'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { TagsField } from '../parts/tags-field.tsx'
import { now, timeZone as ownZone } from '../parts/time.ts'
import { ZoneField, zoneProblem } from '../parts/zone-field.tsx'
import { addDays, dateInZone, startOfDay } from '../parts/zoned-time.ts'
import type { ScreenProps } from '../route.ts'
import { search, setSearch, setSearchAll } from '../router.ts'
import { calendarDays, dayCount } from './calendar/calendar-days.ts'
import { WeekGrid } from './calendar/week-grid.tsx'
import { NoSchedules } from './schedules/no-schedules.tsx'

const minuteMs = 60_000
const zonesAtMost = 6

/** The first day according to the address, if valid. */
function firstDay(zone: string): string {
  const today = dateInZone(now.value, zone)
  const wanted = search.value.get('from') ?? ''
  const isDate = /^\d{4}-\d\d-\d\d$/.test(wanted) && !Number.isNaN(Date.parse(wanted))
  return isDate && wanted > today ? wanted : today
}

export default function CalendarScreen({ route }: ScreenProps) {
  const typed = search.value.get('zone') ?? ownZone
  const zone = typed !== '' && zoneProblem(typed) === undefined ? typed : ownZone
  const asked = search.value.getAll('deviceZone')
  const valid = asked.filter((name) => zoneProblem(name) === undefined).slice(0, zonesAtMost)
  const deviceZones = valid.length > 0 ? valid : [zone]
  const first = firstDay(zone)
  const from = startOfDay(first, zone)
  const to = startOfDay(addDays(first, dayCount), zone)
  const { data, error, refetch } = useQuery({
    ...queries.calendar({ from, to, deviceZones }),
    refetchInterval: minuteMs,
  })
  const isThisWeek = first === dateInZone(now.value, zone)
  return (
    <>
      <PageHeader title={route.title} about={`Upcoming runs of schedules, and windows. Times in ${zone}.`}>
        <button
          type="button"
          disabled={isThisWeek}
          onClick={() => setSearch({ from: addDays(first, -dayCount) })}
        >
          Previous week
        </button>
        <button type="button" disabled={isThisWeek} onClick={() => setSearch({ from: undefined })}>
          Today
        </button>
        <button type="button" onClick={() => setSearch({ from: addDays(first, dayCount) })}>
          Next week
        </button>
      </PageHeader>
      <div class="filters">
        <ZoneField label="Times in" value={typed} onInput={(next) => setSearch({ zone: next })} />
        <TagsField
          label="Windows of devices in"
          values={asked.length > 0 ? asked : [zone]}
          onChange={(zones) => setSearchAll('deviceZone', zones.slice(0, zonesAtMost))}
          suggestions={suggestedZones}
        />
      </div>
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {data?.isEmpty && <NoSchedules />}
      {data && !data.isEmpty && <WeekGrid days={calendarDays(first, zone, data)} zone={zone} />}
      {data && data.cut.length > 0 && (
        <p class="quiet">Not all entries are shown. There are more: {data.cut.join(', ')}.</p>
      )}
    </>
  )
}

const suggestedZones = Intl.supportedValuesOf('timeZone')
