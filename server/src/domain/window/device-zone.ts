// The time zone of a device: set by its owner, otherwise reported by the device, otherwise UTC.

import { isTimeZone } from '@jobcast/contract/selector'
import type { Attributes } from '../device/ports/devices.ts'

/** The attribute that holds it. */
export const zoneAttribute = 'timeZone'
export const defaultZone = 'UTC'

/** More than there are zones, because names may be written in any case. */
const keptNames = 2000
const names = new Map<string, string>()

/** The canonical name, so that there are few distinct zones; UTC for an invalid value. */
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

/** `attributes`: set by the owner. */
export function deviceZoneOf(attributes: Attributes, reported: Attributes): string {
  return zoneOf(attributes[zoneAttribute] ?? reported[zoneAttribute])
}

/** For display under the name that people use: Asia/Kolkata, not the canonical Asia/Calcutta. */
export function zoneAsWritten(value: unknown): string {
  return typeof value === 'string' && isTimeZone(value) ? value : defaultZone
}
