// The days of a week side by side, hour by hour; in a narrow window, one below the other as lists.

import { clockInZone, dayInZone } from '../../parts/zoned-time.ts'
import { type CalendarDay, type DayRun, type DayWindow, hourHeight } from './calendar-days.ts'

export function WeekGrid({ days, zone }: { days: CalendarDay[]; zone: string }) {
  const height = Math.max(...days.map((day) => day.height))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="week panel" tabIndex={0} aria-label={`Week, times in ${zone}`}>
      <div class="hours" aria-hidden="true" style={{ height: `${height}px` }}>
        {Array.from({ length: 24 }, (_, hour) => (
          <span key={hour} style={{ top: `${hour * hourHeight}px` }}>
            {String(hour).padStart(2, '0')}:00
          </span>
        ))}
      </div>
      {days.map((day) => (
        <Day key={day.date} day={day} zone={zone} height={height} />
      ))}
    </section>
  )
}

function Day({
  day: { date, start, runs, windows },
  zone,
  height,
}: {
  day: CalendarDay
  zone: string
  height: number
}) {
  const id = `day-${date}`
  return (
    <section class="day" aria-labelledby={id}>
      <h2 id={id}>{dayInZone(start, zone)}</h2>
      <div class="day-body" style={{ '--height': `${height}px`, '--hour': `${hourHeight}px` }}>
        {windows.length > 0 && (
          <ul class="day-windows" aria-label="Windows">
            {windows.map((window) => (
              <Band key={`${window.name} ${window.zone} ${window.from}`} window={window} zone={zone} />
            ))}
          </ul>
        )}
        {runs.length > 0 && (
          <ol class="day-runs" aria-label="Runs">
            {runs.map((run) => (
              <Chip key={`${run.href} ${run.at}`} run={run} zone={zone} />
            ))}
          </ol>
        )}
        {runs.length === 0 && windows.length === 0 && <p class="quiet nothing">Nothing</p>}
      </div>
    </section>
  )
}

function Band({ window, zone }: { window: DayWindow; zone: string }) {
  const { name, zone: ownZone, from, until, top, bottom, lane, lanes, href } = window
  const times = `${clockInZone(from, zone)} to ${clockInZone(until, zone)}`
  return (
    <li
      style={{
        '--top': `${top}px`,
        '--height': `${Math.max(18, bottom - top)}px`,
        '--left': `${(lane / lanes) * 100}%`,
        '--width': `${100 / lanes}%`,
      }}
    >
      <a href={href} title={`${name}, ${times}, for ${ownZone}`}>
        <span class="clock">{times} </span>
        <bdi>{name}</bdi> <span class="quiet">{ownZone}</span>
      </a>
    </li>
  )
}

function Chip({ run: { at, name, href, count, top }, zone }: { run: DayRun; zone: string }) {
  const clock = clockInZone(at, zone)
  return (
    <li style={{ '--top': `${top}px` }}>
      <a href={href} title={`${clock} ${name}`}>
        <span class="clock">{clock}</span> <bdi>{name}</bdi>
        {count > 1 && <span class="quiet"> {count} times this hour</span>}
      </a>
    </li>
  )
}
