/** Instead of a zone: each device's own. */
export const deviceZone = 'device'

export function zoneInWords(timeZone: string): string {
  return timeZone === deviceZone ? "each device's own" : timeZone
}
