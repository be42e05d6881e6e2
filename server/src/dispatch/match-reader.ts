// The selectors and jobs of one owner's schedules, read when they may have changed rather than on each tick: reading a hundred
// schedules with groups on each tick took 71 % of a core on an idle server. Schedules with the same targets share one selector.

import type { Selector } from '@jobcast/contract/selector'
import { giveRuleOf } from '../domain/schedule/give-again.ts'
import { type LaunchScheduleDeps, scheduleSelector } from '../domain/schedule/launch-schedule.ts'
import { buildMatch, type JobOfMatch, type Match, readJobOf } from '../domain/schedule/match-schedule.ts'
import type { StoredSchedule } from '../domain/schedule/ports/schedules.ts'

/** Maximum delay before a changed job is noticed: other required attributes, or a new version. */
const readJobAgainMs = 5000

/** Per selector: each version of a job may need another match. */
const mostMatches = 1000

/** `groups`: the version of the owner's groups that the selector was read with; empty if it refers to none. */
type SharedSelector = { groups: string; selector: Selector; matches: Map<string, Match> }
type KnownJob = JobOfMatch & { readAt: number }

export class MatchReader {
  readonly #selectors = new Map<string, SharedSelector>()
  readonly #jobs = new Map<string, KnownJob>()

  /** Undefined: not cached, call `read`. */
  find(schedule: StoredSchedule, groups: string): Match | undefined {
    const shared = this.#selectors.get(targetsOf(schedule))
    const job = this.#jobs.get(jobOf(schedule))
    if (shared?.groups !== groupsOf(schedule, groups) || job === undefined) return undefined
    return matchOf(shared, schedule, job)
  }

  /** Whether the job of the schedule is due to be read again. */
  isJobOld(schedule: StoredSchedule, clock: number): boolean {
    const known = this.#jobs.get(jobOf(schedule))
    return known === undefined || clock - known.readAt >= readJobAgainMs
  }

  /** Throws J-503 and J-309. */
  async read(
    deps: LaunchScheduleDeps,
    schedule: StoredSchedule,
    { groups, clock }: { groups: string; clock: number },
  ): Promise<Match> {
    const targets = targetsOf(schedule)
    let shared = this.#selectors.get(targets)
    if (shared === undefined || shared.groups !== groupsOf(schedule, groups)) {
      const selector = await scheduleSelector(deps, schedule)
      shared = { groups: groupsOf(schedule, groups), selector, matches: new Map() }
      this.#selectors.set(targets, shared)
    }
    let job = this.#jobs.get(jobOf(schedule))
    if (job === undefined || this.isJobOld(schedule, clock)) {
      job = { ...(await readJobOf(deps, schedule)), readAt: clock }
      this.#jobs.set(jobOf(schedule), job)
    }
    return matchOf(shared, schedule, job)
  }

  /** Drops entries that none of these schedules uses. */
  keep(schedules: StoredSchedule[]): void {
    const [targets, jobs] = [new Set(schedules.map(targetsOf)), new Set(schedules.map(jobOf))]
    for (const each of this.#selectors.keys()) if (!targets.has(each)) this.#selectors.delete(each)
    for (const each of this.#jobs.keys()) if (!jobs.has(each)) this.#jobs.delete(each)
  }
}

function matchOf(
  { selector, matches }: SharedSelector,
  schedule: StoredSchedule,
  { needed, versionNo }: KnownJob,
): Match {
  const rule = giveRuleOf(schedule, versionNo)
  const key = JSON.stringify([needed, rule])
  const match = matches.get(key) ?? buildMatch(selector, needed, rule)
  if (matches.size >= mostMatches) matches.clear()
  matches.set(key, match)
  return match
}

/** The definition of a group may change while the schedule does not. */
export function hasGroups({ content: { targets } }: StoredSchedule): boolean {
  return targets.group !== undefined || (targets.where?.includes('group') ?? false)
}

function groupsOf(schedule: StoredSchedule, groups: string): string {
  return hasGroups(schedule) ? groups : ''
}

const targetTexts = new WeakMap<StoredSchedule, string>()

function targetsOf(schedule: StoredSchedule): string {
  const text = targetTexts.get(schedule) ?? JSON.stringify(schedule.content.targets)
  targetTexts.set(schedule, text)
  return text
}

function jobOf({ jobName, content: { version } }: StoredSchedule): string {
  return `${version ?? ''} ${jobName}`
}
