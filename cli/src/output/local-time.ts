// Timestamps of the service in local time.

/** 2026-11-15 10:30:00. `launchedAt` has no offset and is UTC. */
export function localTime(instant: string | null): string | null {
  if (instant === null) return null
  const at = new Date(/Z|[+-]\d\d:\d\d$/.test(instant) ? instant : `${instant}Z`)
  const two = (number: number) => String(number).padStart(2, '0')
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')
  return `${day} ${at.toTimeString().slice(0, 8)}`
}
