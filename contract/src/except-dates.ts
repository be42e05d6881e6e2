// Local dates on which a window is closed or a schedule does not run: single dates or ranges.

import Type from 'typebox'
import { dayOf } from './cron/day-of.ts'
import { mustBe } from './text.ts'

const maxExceptions = 100
const datePattern = '\\d{4}-\\d\\d-\\d\\d'

export const exceptDates = (description: string) =>
  Type.Array(
    Type.String({
      pattern: `^${datePattern}(?:/${datePattern})?$`,
      [mustBe]: 'a date such as 2026-12-24, or two dates separated by /',
    }),
    { maxItems: maxExceptions, description },
  )

/** Checks rules that the schema cannot express; undefined if valid. */
export function exceptProblem(except: readonly string[]): { field: string; detail: string } | undefined {
  for (const [index, text] of except.entries()) {
    const field = `except[${index}]`
    const days = text.split('/').map((date) => ({ date, day: dayOf(date) }))
    const unreal = days.find(({ day }) => day === undefined)
    if (unreal) return { field, detail: `${field}: no such date: ${unreal.date}.` }
    const [first, last] = days
    if (last && (last.day ?? 0) < (first?.day ?? 0)) {
      return { field, detail: `${field} ends before it begins: ${text}.` }
    }
  }
  return undefined
}
