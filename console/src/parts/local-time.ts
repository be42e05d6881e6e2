// Converts between instants in the address (UTC) and values of date and time fields (in the time zone of the browser).

export function localTime(instant: string): string {
  const ms = Date.parse(instant)
  if (Number.isNaN(ms)) return ''
  const shifted = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

export function utcTime(local: string): string | undefined {
  const ms = Date.parse(local)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace('.000Z', 'Z')
}
