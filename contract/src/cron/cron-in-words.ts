// A cron pattern as a phrase: "every weekday at 03:00".

import { type CronField, listOf, readField } from './cron-field.ts'
import { expandPattern } from './named-patterns.ts'

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'],
  ...['November', 'December'],
]
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const timesAtMost = 6

type Fields = { minute: CronField; hour: CronField; day: CronField; month: CronField; weekday: CronField }

/** Undefined: the pattern has no short description, or is invalid. */
export function cronInWords(pattern: string): string | undefined {
  const texts = expandPattern(pattern)
  const minute = readField(texts[0], { from: 0, to: 59 })
  const hour = readField(texts[1], { from: 0, to: 23 })
  const day = readField(texts[2], { from: 1, to: 31 })
  const month = readField(texts[3], { from: 1, to: 12, names: months })
  const weekday = readField(texts[4], { from: 0, to: 7, names: weekdays })
  if (texts.length !== 5 || !minute || !hour || !day || !month || !weekday) return undefined
  const fields = { minute, hour, day, month, weekday: { ...weekday, values: fromSunday(weekday.values) } }
  const days = daysInWords(fields)
  const clock = clockTimes(fields)
  if (clock) return `${days || 'every day'} at ${clock}`
  const repeated = repetition(fields)
  return repeated && [repeated, days].filter(Boolean).join(', ')
}

/** 7 is Sunday, too. */
function fromSunday(values: readonly number[]): number[] {
  return [...new Set(values.map((value) => value % 7))].sort((a, b) => a - b)
}

/** "03:00 and 15:00" */
function clockTimes({ minute, hour }: Fields): string | undefined {
  if (hour.isAll || minute.isAll || hour.values.length * minute.values.length > timesAtMost) return undefined
  return listOf(hour.values.flatMap((each) => minute.values.map((past) => clockOf(each, past))))
}

function clockOf(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

/** "every 15 minutes from 08:00 to 17:45" */
function repetition({ minute, hour }: Fields): string | undefined {
  const often = minutesInWords(minute)
  const [first = 0] = minute.values
  if (minute.values.length === 1) {
    const past = first === 0 ? '' : ` at ${first} past`
    if (hour.isAll) return `every hour${past}`
    if (hour.step) return `every ${hour.step} hours${first === 0 ? '' : `, ${first} minutes past the hour`}`
  }
  if (!often || !(hour.isAll || hour.isRange)) return undefined
  if (hour.isAll) return often
  const last = minute.values.at(-1) ?? 0
  const span = ` from ${clockOf(hour.values[0] ?? 0, first)} to ${clockOf(hour.values.at(-1) ?? 0, last)}`
  return `${minute.values.length === 1 ? 'every hour' : often}${span}`
}

function minutesInWords(minute: CronField): string | undefined {
  if (minute.isAll) return 'every minute'
  if (minute.step) return `every ${minute.step} minutes`
  if (minute.values.length > timesAtMost) return undefined
  return `every hour at ${listOf(minute.values.map(String))} past`
}

/** Empty: on all days. A date that either field matches is one of them. */
function daysInWords({ day, month, weekday }: Fields): string {
  const inMonths = month.isAll ? '' : listOf(month.values.map((value) => months[value - 1] ?? ''))
  const dates = day.isAll ? '' : `on the ${listOf(day.values.map(ordinal))} of ${inMonths || 'every month'}`
  const names = weekday.isAll || weekday.values.length === 7 ? '' : `every ${weekdaysInWords(weekday.values)}`
  if (dates) return names ? `${dates} and ${names}${inMonths && ` in ${inMonths}`}` : dates
  if (names) return `${names}${inMonths && ` in ${inMonths}`}`
  return inMonths && `every day in ${inMonths}`
}

function weekdaysInWords(values: readonly number[]): string {
  if (values.join() === '1,2,3,4,5') return 'weekday'
  const isRange = values.length > 2 && values.every((value, index) => value === (values[0] ?? 0) + index)
  const named = values.map((value) => weekdays[value] ?? '')
  // A week begins on Monday.
  if (!isRange) return listOf(values[0] === 0 ? [...named.slice(1), 'Sunday'] : named)
  return `${named[0]} to ${named.at(-1)}`
}

function ordinal(value: number): string {
  const suffix = value > 10 && value < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
  return `${value}${suffix}`
}
