// Looks at schedules, on every node: at those that are due, at those whose last run has ended, and at all of them after
// the wall clock was set back. Several nodes may look at one at once; the store lets one of them go on with it.

import type { WallInstant } from '../domain/common/instants.ts'
import type { DeviceLink } from '../domain/device/ports/device-link.ts'
import {
  type FireDeps,
  fireDue,
  isTriedAgain,
  judgeFailures,
  replan,
} from '../domain/schedule/fire-schedule.ts'
import type { StoredSchedule } from '../domain/schedule/ports/schedules.ts'
import { ScheduleChanges } from './schedule-changes.ts'
import { shareVersions } from './shared-versions.ts'

type ScheduleTickerDeps = Omit<FireDeps, 'link'> & {
  onFailure: (error: unknown, scheduleNo: number) => void
  onDone: (scheduleNo: number) => void
}

/** Most of them wait for the same write. */
const mostAtOnce = 64
const listedAtOnce = 200
/** So many that fail do not keep the others waiting. */
const mostPassedOver = 2000
/** A node that is gone may have written with the time before the clock was set back: each minute all are looked at. */
const replanEveryTicks = 120

export class ScheduleTicker {
  readonly #deps: ScheduleTickerDeps
  readonly #inFlight = new Map<number, Promise<void>>()
  /** The latest instant that the wall clock has shown; undefined before the first tick. */
  #shown: WallInstant | undefined
  #ticks = 0
  readonly #writeChange: NonNullable<FireDeps['writeChange']>
  /** Set before the first tick: with several nodes it reaches all of them. */
  link: DeviceLink

  constructor(deps: ScheduleTickerDeps, link: DeviceLink) {
    const { store } = deps
    this.#deps = { ...deps, store: { ...store, listJobVersions: shareVersions(store.listJobVersions) } }
    const changes = new ScheduleChanges(deps.store)
    this.#writeChange = (change) => changes.write(change)
    this.link = link
  }

  async tick(): Promise<void> {
    const { store, moment } = this.#deps
    const { at } = moment()
    if (this.#shown !== undefined && at < this.#shown) {
      // What is being fired was begun at the later time, and is written with it.
      await this.quiet()
      await this.#replanAll(at)
    } else if (this.#ticks % replanEveryTicks === 0) await this.#replanAll(at)
    this.#ticks++
    this.#shown = at
    await this.#fireAll(at)
    for (const each of await store.listJudgedSchedules({ limit: listedAtOnce })) {
      await this.#begin(each, judgeFailures)
    }
  }

  /** Each once, however many there are: those that are being fired, or have failed, are still listed. */
  async #fireAll(by: WallInstant): Promise<void> {
    const begun = new Set<number>()
    for (let passedOver = 0; ; ) {
      const limit = listedAtOnce + Math.min(passedOver, mostPassedOver)
      const due = await this.#deps.store.listDueSchedules({ by, limit })
      const fresh = due.filter(({ scheduleNo }) => !begun.has(scheduleNo))
      for (const each of fresh) {
        if (this.#deps.stopping.aborted) return
        begun.add(each.scheduleNo)
        await this.#begin(each, fireDue)
      }
      if (due.length < limit || fresh.length === 0) return
      passedOver = due.length - fresh.length
    }
  }

  /** One that takes long, because it has many devices, does not keep the others waiting. */
  async #begin(
    schedule: StoredSchedule,
    work: (deps: FireDeps, schedule: StoredSchedule) => Promise<void>,
  ): Promise<void> {
    const { scheduleNo } = schedule
    if (this.#inFlight.has(scheduleNo)) return
    if (this.#inFlight.size >= mostAtOnce) await Promise.race(this.#inFlight.values())
    const working = work({ ...this.#deps, link: this.link, writeChange: this.#writeChange }, schedule)
      .then(() => {
        if (work === fireDue) this.#deps.onDone(scheduleNo)
      })
      .catch((error: unknown) => {
        if (!isTriedAgain(error)) this.#deps.onFailure(error, scheduleNo)
      })
      .finally(() => this.#inFlight.delete(scheduleNo))
    this.#inFlight.set(scheduleNo, working)
  }

  async #replanAll(at: WallInstant): Promise<void> {
    for (let isMore = true; isMore && !this.#deps.stopping.aborted; ) {
      const ahead = await this.#deps.store.listSchedulesAhead({ of: at, limit: listedAtOnce })
      isMore = ahead.length === listedAtOnce
      for (const each of ahead) {
        const isReplanned = await replan(this.#deps, each, at)
        isMore ||= !isReplanned
      }
    }
  }

  /** Resolves when nothing is fired any more. */
  async quiet(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.values())
  }
}
