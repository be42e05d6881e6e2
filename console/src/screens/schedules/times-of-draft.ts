// The next occurrences of a schedule that is not saved yet, by the same rules as on the server. Loaded when a schedule is edited,
// because it needs the library that parses patterns.

import type { ScheduleContent } from '@jobcast/client'
import { CronError, nextExcept, parseCron } from '@jobcast/contract/cron'

type TimesOfDraft = { times: number[]; problem?: string }

export function timesOfDraft(
  { when, except, until }: { when: ScheduleContent['when']; except: string[]; until: string | undefined },
  { after, count }: { after: number; count: number },
): TimesOfDraft {
  const { cron, timeZone = 'UTC', at } = when
  const end = until ? Date.parse(until) : Number.POSITIVE_INFINITY
  if (cron === undefined) return { times: at && Date.parse(at) <= end ? [Date.parse(at)] : [] }
  try {
    const pattern = parseCron(cron, timeZone)
    const times: number[] = []
    for (let next: number | undefined = after; times.length < count; ) {
      next = nextExcept(pattern, except, timeZone, next)
      if (next === undefined || next > end) break
      times.push(next)
    }
    return { times }
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    return {
      times: [],
      problem: `${error.part === 'cron' ? 'The pattern' : 'The time zone'} ${error.message}`,
    }
  }
}
