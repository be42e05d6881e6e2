/** Used as a time zone: the time zone of each device. */
export const deviceZone = 'device'

export function zoneInWords(timeZone: string): string {
  return timeZone === deviceZone ? 'local time of each device' : timeZone
}
