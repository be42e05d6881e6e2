import type { Schedule } from '@jobcast/client'
import { timeZone as ownZone, parseTime } from '../../parts/time.ts'
import { formatInZone } from '../../parts/zoned-time.ts'

/** "0 3 * * 1-5 in Europe/Berlin", "once, Tue 1 Dec 2026, 03:00 Europe/Berlin" */
export function whenInWords({ cron, timeZone, at }: Schedule['when']): string {
  if (cron !== undefined) return `${cron} in ${timeZone ?? 'UTC'}`
  if (at !== undefined) return `once, ${formatInZone(parseTime(at), ownZone)} ${ownZone}`
  return 'when a device starts to match'
}

/** "devices that match tag=kiosk" */
export function targetsInWords(targets: Schedule['targets']): string {
  const { where, group, deviceIds = [] } = targets
  if (where !== undefined) return `devices that match ${where}`
  if (group !== undefined) return `group ${group}`
  return deviceIds.length <= 3 ? deviceIds.join(', ') : `${deviceIds.length} devices`
}
