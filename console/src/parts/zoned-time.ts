// Times in another zone than that of the browser. The caller must show the zone.

type WallTime = { year: number; month: number; day: number; hour: number; minute: number }

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
  formats.set(key, format)
  return format
}

/** "Tue 1 Dec 2026, 03:00" */
export function formatInZone(ms: number, zone: string): string {
  const options = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const
  return `${formatOf(zone, options).format(ms).replace(',', '')}, ${clockInZone(ms, zone)}`
}

/** "03:00" */
export function clockInZone(ms: number, zone: string): string {
  return formatOf(zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(ms)
}

/** "Tue 1 Dec" */
export function dayInZone(ms: number, zone: string): string {
  return formatOf(zone, { weekday: 'short', day: 'numeric', month: 'short' }).format(ms).replace(',', '')
}

const localOptions = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  hourCycle: 'h23',
} as const

export function wallTime(ms: number, zone: string): WallTime {
  const parts = formatOf(zone, localOptions).formatToParts(ms)
  const part = (type: keyof WallTime) => Number(parts.find((each) => each.type === type)?.value)
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
  }
}

/** "2026-12-01" */
export function dateInZone(ms: number, zone: string): string {
  const { year, month, day } = wallTime(ms, zone)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)}`
}

/** The beginning of a day in the zone. */
export function startOfDay(date: string, zone: string): number {
  const asUtc = Date.parse(`${date}T00:00:00Z`)
  let ms = asUtc
  // The guess may be on the other side of a daylight saving change, so its offset may be wrong.
  for (let time = 0; time < 2; time++) {
    const { year, month, day, hour, minute } = wallTime(ms, zone)
    ms += asUtc - Date.UTC(year, month - 1, day, hour, minute)
  }
  return ms
}

/** "2026-12-02" of "2026-12-01" */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
