// Fires due schedules, judges those whose last run has ended, and replans all of them after the wall clock was set back. Runs on
// every node; if several handle a schedule at once, the store lets only one of them continue.

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

/** Most of these wait for the same write. */
const mostAtOnce = 128
/** More than `mostAtOnce`: schedules that are being fired are still listed as due. */
const listedAtOnce = 200
/** Up to this many failing schedules do not block the others. */
const mostPassedOver = 2000
/** A node that has ended may have written times from before the clock was set back, so all are replanned each minute. */
const replanEveryTicks = 120

export class ScheduleTicker {
  readonly #deps: ScheduleTickerDeps
  readonly #inFlight = new Map<number, Promise<void>>()
  /** The wall clock at the last tick; undefined before the first one. */
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
      // Fires in flight began at the later time and write it.
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

  /** Fires each schedule once: those that are being fired, or have failed, are still listed as due. */
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

  /** A slow schedule, such as one with many devices, does not block the others. */
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

  /** Resolves when no schedule is being fired or judged. */
  async quiet(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.values())
  }
}
