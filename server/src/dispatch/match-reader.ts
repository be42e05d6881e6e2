// What the schedules of one owner mean, read when it may have changed and not with each tick: a hundred schedules with
// groups took 71 % of a core on an idle server. Schedules with the same targets share one selector.

import type { Selector } from '@jobcast/contract/selector'
import { type LaunchScheduleDeps, scheduleSelector } from '../domain/schedule/launch-schedule.ts'
import { buildMatch, type Match, neededBy } from '../domain/schedule/match-schedule.ts'
import type { StoredSchedule } from '../domain/schedule/ports/schedules.ts'

/** So soon a changed job is noticed that needs other attributes. */
const readJobAgainMs = 5000

/** `groups`: the version of the owner's groups it was read with; empty if it refers to none. */
type SharedSelector = { groups: string; selector: Selector; matches: Map<string, Match> }
type NeededNames = { names: string[]; readAt: number }

export class MatchReader {
  readonly #selectors = new Map<string, SharedSelector>()
  readonly #needed = new Map<string, NeededNames>()

  /** Undefined: the store has to be asked. */
  find(schedule: StoredSchedule, groups: string): Match | undefined {
    const shared = this.#selectors.get(targetsOf(schedule))
    const needed = this.#needed.get(jobOf(schedule))
    if (shared?.groups !== groupsOf(schedule, groups) || needed === undefined) return undefined
    return matchOf(shared, needed.names)
  }

  /** Whether it is time to ask for its job again. */
  isJobOld(schedule: StoredSchedule, clock: number): boolean {
    const known = this.#needed.get(jobOf(schedule))
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
    const job = jobOf(schedule)
    let needed = this.#needed.get(job)
    if (needed === undefined || this.isJobOld(schedule, clock)) {
      needed = { names: await neededBy(deps, schedule), readAt: clock }
      this.#needed.set(job, needed)
    }
    return matchOf(shared, needed.names)
  }

  /** Drops what none of these uses. */
  keep(schedules: StoredSchedule[]): void {
    const [targets, jobs] = [new Set(schedules.map(targetsOf)), new Set(schedules.map(jobOf))]
    for (const each of this.#selectors.keys()) if (!targets.has(each)) this.#selectors.delete(each)
    for (const each of this.#needed.keys()) if (!jobs.has(each)) this.#needed.delete(each)
  }
}

function matchOf({ selector, matches }: SharedSelector, names: string[]): Match {
  const needed = names.join(' ')
  const match = matches.get(needed) ?? buildMatch(selector, names)
  matches.set(needed, match)
  return match
}

/** What a group stands for may change without the schedule. */
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
