// Judges the stop rules of schedules that fire as devices start to match: one query per owner, less often where it is slow.
// A schedule is always judged before it fires.

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

/** The pause between two queries, as a multiple of how long the last one took. */
const pauseFactor = 20

export class ScheduleStops {
  /** Rollout of the last run of each schedule without a rollout of its own; undefined if the run has none. */
  readonly #plans = new Map<number, { runId: number; rollout: Rollout | undefined }>()
  /** Per owner, the earliest time of the next query. */
  readonly #notBefore = new Map<number, number>()

  /** Returns the schedules that are not stopped. `isUrgent`: they are about to fire, so they are judged now. */
  async judge(
    deps: StopScheduleDeps,
    ownerNo: number,
    all: StoredSchedule[],
    { isUrgent = false } = {},
  ): Promise<StoredSchedule[]> {
    const schedules: StoredSchedule[] = []
    // A schedule that `letGo` changed has to be read again first.
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
    const pauseMs = Math.min(60_000, (performance.now() - begun) * pauseFactor)
    this.#notBefore.set(ownerNo, clock + pauseMs)
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

  /** Drops the plans of all other schedules. */
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
