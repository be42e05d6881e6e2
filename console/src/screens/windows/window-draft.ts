// The draft of a window, as texts in form fields.

import { isJobcastError, type Window, type WindowContent } from '@jobcast/client'
import { parseDuration, writeDuration } from '../../parts/duration.ts'
import { zoneProblem } from '../../parts/zone-field.tsx'
import { deviceZone } from './zone-in-words.ts'

type WindowDraft = {
  cron: string
  duration: string
  timeZone: string
  cutoff: string
  except: string[]
}
export type WindowField = keyof WindowDraft

const dayMinutes = 1440

export function windowDraft(window?: Window): WindowDraft {
  return {
    cron: window?.cron ?? '0 2 * * *',
    duration: writeDuration((window?.durationMinutes ?? 180) * 60),
    timeZone: window?.timeZone ?? deviceZone,
    cutoff: window?.cutoffMinutes ? writeDuration(window.cutoffMinutes * 60) : '',
    except: window?.except ?? [],
  }
}

/** Only for valid drafts. */
export function windowContent({ cron, duration, timeZone, cutoff, except }: WindowDraft): WindowContent {
  return {
    cron: cron.trim(),
    durationMinutes: minutesOf(duration) as number,
    timeZone: timeZone.trim(),
    ...(cutoff.trim() !== '' && { cutoffMinutes: minutesOf(cutoff) as number }),
    ...(except.length > 0 && { except }),
  }
}

/** Undefined if the text is not a duration in whole minutes. */
function minutesOf(text: string): number | undefined {
  const seconds = parseDuration(text)
  return seconds !== undefined && seconds % 60 === 0 ? seconds / 60 : undefined
}

export function windowProblems(draft: WindowDraft): Partial<Record<WindowField, string>> {
  const duration = minutesOf(draft.duration) ?? 0
  const cutoff = draft.cutoff.trim() === '' ? 0 : minutesOf(draft.cutoff)
  const wrongDate = draft.except.find((text) => !isException(text))
  const found = {
    cron:
      draft.cron.trim().split(/\s+/).length === 5 ? undefined : 'Must have five fields, such as 0 2 * * *.',
    duration: duration >= 1 && duration <= dayMinutes ? undefined : 'Must be 1 min to 1 d, in whole minutes.',
    timeZone:
      draft.timeZone.trim() === '' ? 'Choose a time zone.' : zoneProblem(draft.timeZone, [deviceZone]),
    cutoff: cutoff !== undefined && cutoff < duration ? undefined : 'Must be shorter than the window.',
    except: wrongDate && `${wrongDate} is not a date such as 2026-12-24, or two dates separated by /.`,
  }
  return Object.fromEntries(Object.entries(found).filter(([, problem]) => problem !== undefined))
}

/** A date, or a range of two dates. */
export function isException(text: string): boolean {
  const dates = text.split('/')
  const isDate = (date: string) => /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(Date.parse(date))
  return dates.length <= 2 && dates.every(isDate)
}

const fieldPaths: [string, WindowField][] = [
  ['cron', 'cron'],
  ['durationMinutes', 'duration'],
  ['timeZone', 'timeZone'],
  ['cutoffMinutes', 'cutoff'],
  ['except', 'except'],
]

/** The field that the server refuses, with the reason. */
export function refusedWindowField(error: unknown): { field: WindowField; text: string } | undefined {
  if (!isJobcastError(error)) return undefined
  const [, field] = fieldPaths.find(([path]) => error.field?.startsWith(path)) ?? []
  return field && { field, text: `${error.detail ?? error.message} (${error.code})` }
}
