// Local dates on which a window is closed or a schedule does not run: single ones, or a first and a last one.

import Type from 'typebox'
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

/** Days since 1970 of a date as it is written; undefined: there is no such day. */
export function dayOf(date: string): number | undefined {
  const at = Date.parse(`${date}T00:00:00Z`)
  const isReal = !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
  return isReal ? at / 86_400_000 : undefined
}

/** What the schema cannot say; undefined if it is right. */
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
