// Wall clocks of time zones. A local time is written as the instant at which UTC would show it.

const dayMs = 24 * 60 * 60_000

/** More than there are zones, because names may differ in case. */
const keptFormats = 1000
const formats = new Map<string, Intl.DateTimeFormat>()

/** `zone`: accepted by `isTimeZone`. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...digits, ...time })
    if (formats.size >= keptFormats) formats.clear()
    formats.set(zone, format)
  }
  return format
}

/** How far the zone's clocks are ahead of UTC at this instant. */
function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0
  const whole = Math.floor(instant / 1000) * 1000
  // 03/28/2027, 03:00:00
  const shown = formatOf(zone).format(whole)
  const [month = 1, day = 1, year = 1970, hour, minute, second] = shown.split(/\D+/).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole
}

export function localTime(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant)
}

/**
 * When the zone's clocks show this time: the first of two instants, or the first instant after the gap if clocks skip it.
 * Monotonic: a later local time never gives an earlier instant.
 */
export function instantOf(zone: string, local: number): number {
  const before = offsetAt(zone, local - dayMs)
  const after = offsetAt(zone, local + dayMs)
  const earliest = local - Math.max(before, after)
  if (earliest + offsetAt(zone, earliest) === local) return earliest
  const latest = local - Math.min(before, after)
  if (latest + offsetAt(zone, latest) === local) return latest
  return changeBetween(zone, local - dayMs - before, local + dayMs - after)
}

/** The first instant of the offset that holds at `to`, of two instants with one change between them. */
function changeBetween(zone: string, from: number, to: number): number {
  const offset = offsetAt(zone, to)
  let [low, high] = [Math.floor(from / 1000), Math.floor(to / 1000)]
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(zone, middle * 1000) === offset) high = middle
    else low = middle
  }
  return high * 1000
}

/** With the offset, to the minute: 2026-12-01T03:00+01:00. */
export function toLocalText(zone: string, instant: number): string {
  const offset = offsetAt(zone, instant)
  const minutes = Math.abs(offset) / 60_000
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const shown = new Date(instant + offset).toISOString().slice(0, 16)
  return `${shown}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}
