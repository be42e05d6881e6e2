// The zone a device is in: what its owner says, else what it reports, else UTC.

import { isTimeZone } from '@jobcast/contract/selector'
import type { Attributes } from '../device/ports/devices.ts'

/** The attribute that says it. */
export const zoneAttribute = 'timeZone'
export const defaultZone = 'UTC'

/** More than there are zones; their names may be written in any case. */
const keptNames = 2000
const names = new Map<string, string>()

/** As the zone is usually written, so that there are few of them; UTC where it is none. */
export function zoneOf(value: unknown): string {
  if (typeof value !== 'string') return defaultZone
  const known = names.get(value)
  if (known !== undefined) return known
  if (!isTimeZone(value)) return defaultZone
  const zone = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone
  if (names.size >= keptNames) names.clear()
  names.set(value, zone)
  return zone
}

/** `attributes`: those that its owner has set. */
export function deviceZoneOf(attributes: Attributes, reported: Attributes): string {
  return zoneOf(attributes[zoneAttribute] ?? reported[zoneAttribute])
}

/** For people, who know it under the name that they use: Asia/Kolkata, not Asia/Calcutta. */
export function zoneAsWritten(value: unknown): string {
  return typeof value === 'string' && isTimeZone(value) ? value : defaultZone
}
