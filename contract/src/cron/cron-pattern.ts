// Patterns of five fields in a time zone: minute, hour, day of month, month, day of week; or a name such as @daily.

import { Cron } from 'croner'
import { isTimeZone } from '../selector/attribute-rules.ts'
import { ExceptSpans } from './except-spans.ts'
import { expandPattern, namedPatterns } from './named-patterns.ts'
import { instantOf, localTime } from './zone-time.ts'

const maxPatternLength = 200

export type CronPattern = {
  /** The first instant after this one at which it is due; undefined: there is none. */
  next(after: number): number | undefined
}

type CronPart = 'cron' | 'timeZone'

/** The message continues a sentence that begins with the name of the field. */
export class CronError extends Error {
  readonly part: CronPart

  constructor(part: CronPart, message: string) {
    super(message)
    this.part = part
  }
}

/** croner also accepts ? (the current time) and +, which are not part of standard five-field patterns. */
const fieldRule = /^[0-9A-Za-z*,/#-]+$/
/** Any day: whether a pattern ever occurs does not depend on it. */
const someDay = new Date('2026-01-01T00:00:00Z')
const keptPatterns = 1000
const read = new Map<string, Cron>()
/** Cached, because checking a time zone takes ten times as long as finding the next time. */
const knownZones = new Set<string>()
const keptZones = 1000

/** Throws CronError. */
export function parseCron(pattern: string, timeZone: string): CronPattern {
  requireZone(timeZone)
  const cron = parse(pattern)
  return { next: (after) => nextOf(cron, timeZone, after) }
}

/** The first instant after this one at which the pattern is due on a date that is not excepted. */
export function nextExcept(
  pattern: CronPattern,
  except: readonly string[] | undefined,
  timeZone: string,
  after: number,
): number | undefined {
  let next = pattern.next(after)
  if (except === undefined) return next
  const spans = new ExceptSpans(except, timeZone)
  // Each step skips a whole exception, so there are few steps.
  for (;;) {
    const end = next === undefined ? undefined : spans.endAt(next)
    if (end === undefined) return next
    next = pattern.next(end - 1)
  }
}

function requireZone(timeZone: string): void {
  if (knownZones.has(timeZone)) return
  if (!isTimeZone(timeZone)) {
    throw new CronError('timeZone', 'must be the name of an IANA time zone such as Europe/Berlin.')
  }
  if (knownZones.size >= keptZones) knownZones.clear()
  knownZones.add(timeZone)
}

/**
 * croner finds matching local times as if they were UTC; we convert them to instants. With a time zone, croner would repeat
 * a pattern such as every 15 minutes in an hour that occurs twice, and would take ten times as long.
 */
function nextOf(cron: Cron, zone: string, after: number): number | undefined {
  for (let local = localTime(zone, after); ; ) {
    const next = cron.nextRun(new Date(local))
    if (next === null) return undefined
    local = next.getTime()
    const instant = instantOf(zone, local)
    // Not again in the second pass of an hour that occurs twice.
    if (instant > after) return instant
  }
}

function parse(pattern: string): Cron {
  const known = read.get(pattern)
  if (known) return known
  const fields = expandPattern(pattern)
  const shown = JSON.stringify(pattern.slice(0, maxPatternLength))
  if (fields.length === 6 || fields.length === 7) {
    throw new CronError('cron', `has ${fields.length} fields; seconds and years are not supported.`)
  }
  if (fields.length !== 5) {
    const names = Object.keys(namedPatterns).join(', ')
    const detail = `must have 5 fields (minute, hour, day of month, month, day of week), not ${fields.length}, or be one of ${names}.`
    throw new CronError('cron', detail)
  }
  if (!fields.every((each) => fieldRule.test(each))) {
    throw new CronError('cron', `${shown} contains an invalid character.`)
  }
  const cron = toCron(fields.join(' '))
  if (cron.nextRun(someDay) === null) throw new CronError('cron', `${shown} never occurs.`)
  if (read.size >= keptPatterns) read.clear()
  read.set(pattern, cron)
  return cron
}

function toCron(pattern: string): Cron {
  try {
    return new Cron(pattern, { mode: '5-part', utcOffset: 0, paused: true })
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw new CronError('cron', `is not a valid cron pattern: ${said.replace(/\.$/, '')}.`)
  }
}
