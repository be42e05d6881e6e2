// Judges the stop rules of schedules that fire as devices start to match: those of an owner with one question, and those with
// very many runs less often. Before one fires, it is judged in any case.

import type { Rollout } from '@jobcast/contract'
import type { StoredSchedule } from '../domain/schedule/ports/schedules.ts'
import {
  addEarlier,
  countedSince,
  findStop,
  letGo,
  type StopScheduleDeps,
  stopRulesOf,
  stopSchedule,
} from '../domain/schedule/stop-schedule.ts'

/** A question that takes long is asked so much less often. */
const restFactor = 20

export class ScheduleStops {
  /** Of the last run of each schedule that has no rollout of its own; undefined: the run has none. */
  readonly #plans = new Map<number, { runId: number; rollout: Rollout | undefined }>()
  /** Of each owner: when to ask again. */
  readonly #notBefore = new Map<number, number>()

  /** Those that are not stopped. `isUrgent`: they fire now. */
  async judge(
    deps: StopScheduleDeps,
    ownerNo: number,
    all: StoredSchedule[],
    { isUrgent = false } = {},
  ): Promise<StoredSchedule[]> {
    const schedules: StoredSchedule[] = []
    // One that was changed by it is read again first.
    for (const each of all) if (!(await letGo(deps, each))) schedules.push(each)
    const { at, clock } = deps.moment()
    if (!isUrgent && clock < (this.#notBefore.get(ownerNo) ?? 0)) return schedules
    const since = countedSince(at)
    await this.#readPlans(deps, ownerNo, schedules)
    const judged = schedules.filter(
      (each) => (each.lastFiredAt ?? 0) >= since && this.#rulesOf(each).length > 0,
    )
    if (judged.length === 0) return schedules
    const begun = performance.now()
    const scheduleNos = judged.map(({ scheduleNo }) => scheduleNo)
    const counted = await deps.store.countScheduled({ scheduleNos, since })
    const rest = Math.min(60_000, (performance.now() - begun) * restFactor)
    this.#notBefore.set(ownerNo, clock + rest)
    const counts = new Map(counted.map(({ scheduleNo, ...each }) => [scheduleNo, each]))
    const stopped = new Set<StoredSchedule>()
    for (const each of judged) {
      const sum = await addEarlier(deps, each, since, counts.get(each.scheduleNo) ?? {})
      const met = findStop(this.#rulesOf(each), sum)
      if (met === undefined) continue
      stopped.add(each)
      await stopSchedule(deps, each, met)
    }
    return schedules.filter((each) => !stopped.has(each))
  }

  /** Drops what none of these uses. */
  keep(scheduleNos: ReadonlySet<number>): void {
    for (const scheduleNo of this.#plans.keys())
      if (!scheduleNos.has(scheduleNo)) this.#plans.delete(scheduleNo)
  }

  #rulesOf(schedule: StoredSchedule) {
    return stopRulesOf(schedule, this.#plans.get(schedule.scheduleNo)?.rollout)
  }

  async #readPlans({ store }: StopScheduleDeps, ownerNo: number, schedules: StoredSchedule[]): Promise<void> {
    const unknown = schedules.filter(({ content, lastRunId, scheduleNo }) => {
      return (
        content.rollout === null && lastRunId !== null && this.#plans.get(scheduleNo)?.runId !== lastRunId
      )
    })
    if (unknown.length === 0) return
    const found = await store.listRollouts({
      ownerNo,
      runIds: unknown.map(({ lastRunId }) => lastRunId ?? 0),
    })
    const byRun = new Map(found.map(({ runId, plan }) => [runId, plan.rollout]))
    for (const { scheduleNo, lastRunId } of unknown) {
      const runId = lastRunId ?? 0
      this.#plans.set(scheduleNo, { runId, rollout: byRun.get(runId) })
    }
  }
}
