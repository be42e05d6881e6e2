import type { Schedule } from '@jobcast/client'
import { cronInWords } from '@jobcast/contract/cron'
import { writeDuration } from '../../parts/duration.ts'
import { timeZone as ownZone, parseTime } from '../../parts/time.ts'
import { formatInZone } from '../../parts/zoned-time.ts'

/** "every weekday at 03:00, Europe/Berlin", "once, Tue 1 Dec 2026, 03:00 Europe/Berlin" */
export function whenInWords({ cron, timeZone, at, again }: Schedule['when']): string {
  if (cron !== undefined) return `${cronInWords(cron) ?? cron}, ${timeZone ?? 'UTC'} time`
  if (at !== undefined) return `once, ${formatInZone(parseTime(at), ownZone)} ${ownZone}`
  if (again === 'WHILE_MATCHING') return 'while a device matches'
  return again ? 'when a device starts to match, and on new versions' : 'when a device starts to match'
}

/** For a schedule with match. */
export function matchInWords({ again, backOffSeconds = 60 }: Schedule['when']): string {
  const start = 'Whenever a device starts to match'
  if (again === undefined) return `${start}, once for each device.`
  if (again === 'ON_NEW_VERSION') return `${start}, once for each device and version of the job.`
  const backOff = writeDuration(backOffSeconds)
  return `${start}, and again while it matches: ${backOff} after its execution ended, then after twice as long each time.`
}

/** "devices that match tag=kiosk" */
export function targetsInWords(targets: Schedule['targets']): string {
  const { where, group, deviceIds = [] } = targets
  if (where !== undefined) return `devices that match ${where}`
  if (group !== undefined) return `group ${group}`
  return deviceIds.length <= 3 ? deviceIds.join(', ') : `${deviceIds.length} devices`
}
