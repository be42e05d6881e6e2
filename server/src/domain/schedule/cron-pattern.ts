// Patterns of five fields in a time zone: minute, hour, day of month, month, day of week; or a name such as @daily.

import { ApiError, isTimeZone } from '@jobcast/contract'
import { Cron } from 'croner'
import { instantOf, localTime } from '../window/zone-time.ts'

const maxPatternLength = 200

export type CronPattern = {
  /** The first instant after this one at which it is due; undefined: there is none. */
  next(after: number): number | undefined
}

const named: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}
/** croner also knows a ? that stands for the present time, and a + : they have no place in five plain fields. */
const fieldRule = /^[0-9A-Za-z*,/#-]+$/
/** Any: whether a pattern has a next time does not depend on it. */
const someDay = new Date('2026-01-01T00:00:00Z')
const keptPatterns = 1000
const read = new Map<string, Cron>()
/** To check one takes ten times as long as to find its next time. */
const knownZones = new Set<string>()
const keptZones = 1000

/** Throws J-507. `field`: the object in the request that has `cron` and `timeZone`; empty: the request itself. */
export function readCron(pattern: string, timeZone: string, field: string): CronPattern {
  const prefix = field === '' ? '' : `${field}.`
  requireZone(timeZone, `${prefix}timeZone`)
  const cron = parse(pattern, `${prefix}cron`)
  return { next: (after) => nextOf(cron, timeZone, after) }
}

function requireZone(timeZone: string, field: string): void {
  if (knownZones.has(timeZone)) return
  if (isTimeZone(timeZone)) {
    if (knownZones.size >= keptZones) knownZones.clear()
    knownZones.add(timeZone)
    return
  }
  throw unreadable(field, `${field} must be the name of an IANA time zone such as Europe/Berlin.`)
}

/**
 * croner finds the local times that match, as if they were UTC; instants are ours. With a zone it would show a pattern
 * such as every quarter of an hour twice in an hour that comes twice, and it takes ten times as long.
 */
function nextOf(cron: Cron, zone: string, after: number): number | undefined {
  for (let local = localTime(zone, after); ; ) {
    const next = cron.nextRun(new Date(local))
    if (next === null) return undefined
    local = next.getTime()
    const instant = instantOf(zone, local)
    // Not in an hour that comes twice, when it has passed for the first time.
    if (instant > after) return instant
  }
}

function parse(pattern: string, field: string): Cron {
  const known = read.get(pattern)
  if (known) return known
  const trimmed = pattern.trim()
  const fields = (Object.hasOwn(named, trimmed) ? (named[trimmed] ?? '') : trimmed).split(/\s+/)
  const shown = JSON.stringify(pattern.slice(0, maxPatternLength))
  if (fields.length === 6 || fields.length === 7) {
    throw unreadable(field, `${field} has ${fields.length} fields; seconds and years are not supported.`)
  }
  if (fields.length !== 5) {
    const detail = `${field} must have 5 fields (minute, hour, day of month, month, day of week), not ${fields.length}, or be one of ${Object.keys(named).join(', ')}.`
    throw unreadable(field, detail)
  }
  if (!fields.every((each) => fieldRule.test(each))) {
    throw unreadable(field, `${field} ${shown} contains an invalid character.`)
  }
  const cron = toCron(fields.join(' '), field)
  if (cron.nextRun(someDay) === null) {
    throw unreadable(field, `${field} ${shown} never occurs.`)
  }
  if (read.size >= keptPatterns) read.clear()
  read.set(pattern, cron)
  return cron
}

function toCron(pattern: string, field: string): Cron {
  try {
    return new Cron(pattern, { mode: '5-part', utcOffset: 0, paused: true })
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw unreadable(field, `${field} is not a valid cron pattern: ${said.replace(/\.$/, '')}.`)
  }
}

function unreadable(field: string, detail: string): ApiError {
  return new ApiError('J-507', { field, detail })
}
