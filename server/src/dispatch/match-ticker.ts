// Once a second, finds devices that have started to match a schedule whose job goes to each matching device, and devices due to
// get it again. Only changed devices are examined, each once for all schedules of its owner. Each owner has a share of a tick;
// the remainder is left to the next one. In a cluster, one node does this for an owner; if two do for a moment, the store lets
// only one of them fire.

import type { SelectableDevice } from '@jobcast/contract/selector'
import type { DeviceLink } from '../domain/device/ports/device-link.ts'
import { fireMatch, waitsFor } from '../domain/schedule/fire-match.ts'
import { type FireDeps, isTriedAgain, pauseUnreadable } from '../domain/schedule/fire-schedule.ts'
import { settleEnds, settleLeavers, watchesLeavers } from '../domain/schedule/give-again.ts'
import { chooseFrom, concerns, type Match, sweep, withoutGiven } from '../domain/schedule/match-schedule.ts'
import type { DeviceChanged, ScheduledMove, StoredSchedule } from '../domain/schedule/ports/schedules.ts'
import type { StopScheduleDeps } from '../domain/schedule/stop-schedule.ts'
import { GivenDevices } from './given-devices.ts'
import { hasGroups, MatchReader } from './match-reader.ts'
import { ScheduleStops } from './schedule-stops.ts'

export type MatchTickerDeps = Omit<FireDeps & StopScheduleDeps, 'link'> & {
  onFailure: (error: unknown, scheduleNo?: number) => void
  onDone: (scheduleNo: number) => void
}

const changesAtOnce = 2000
/** How often the cursor is stored; after a crash, changes since then are examined again. */
const rememberEveryMs = 60_000
/** Per schedule and tick: devices that get its job again. */
const dueAtOnce = 10_000
/** Delay after a run could not be created. */
const tryAgainMs = 60_000

/** Per owner and tick: reads of selectors and jobs, and sweeps over all devices. */
const readsPerTick = 20
const sweepsPerTick = 10
/** Per owner and tick: comparisons of terms with changed devices, about 20 ms. */
const comparedPerTick = 400_000
const leastChanges = 20
/** Backoff of a schedule whose read fails. */
const firstDelayMs = 1000
const longestDelayMs = 60_000

/** This node's in-memory state of a schedule. */
type Watched = {
  schedule: StoredSchedule
  match: Match
  cursor: number
  /** Devices that match and have not been given the job. */
  waiting: Set<number>
  given: GivenDevices
  rememberedAt: number
  notBefore: number
}

/** The remainder of an owner's share of a tick. */
type Share = { reads: number; sweeps: number; compared: number }
type Failed = { version: number; delayMs: number; until: number }

export class MatchTicker {
  readonly #deps: MatchTickerDeps
  readonly #watched = new Map<number, Watched>()
  readonly #readers = new Map<number, MatchReader>()
  readonly #failed = new Map<number, Failed>()
  readonly #stops = new ScheduleStops()
  /** Per owner, the schedule that comes first in the next tick. */
  readonly #first = new Map<number, number>()
  /** Set before the first tick. */
  link: DeviceLink
  /** Whether this node handles the schedules of the owner. */
  isOurs: (ownerNo: number) => boolean = () => true

  constructor(deps: MatchTickerDeps, link: DeviceLink) {
    this.#deps = deps
    this.link = link
  }

  async tick(): Promise<void> {
    const all = await this.#deps.store.listMatchSchedules()
    const ours = all.filter(({ ownerNo }) => this.isOurs(ownerNo))
    const kept = new Set(ours.map(({ scheduleNo }) => scheduleNo))
    for (const scheduleNo of this.#watched.keys()) if (!kept.has(scheduleNo)) this.#watched.delete(scheduleNo)
    for (const scheduleNo of this.#failed.keys()) if (!kept.has(scheduleNo)) this.#failed.delete(scheduleNo)
    this.#stops.keep(kept)
    const byOwner = Map.groupBy(ours, (each) => each.ownerNo)
    for (const ownerNo of this.#readers.keys()) {
      if (byOwner.has(ownerNo)) continue
      this.#readers.delete(ownerNo)
      this.#first.delete(ownerNo)
    }
    for (const [ownerNo, schedules] of byOwner) {
      if (this.#deps.stopping.aborted) return
      await this.#stops
        .judge(this.#fire, ownerNo, schedules)
        .then((left) => this.#tickOwner(ownerNo, left))
        .catch((error: unknown) => this.#deps.onFailure(error))
    }
  }

  get #fire(): FireDeps & StopScheduleDeps {
    return { ...this.#deps, link: this.link }
  }

  async #tickOwner(ownerNo: number, schedules: StoredSchedule[]): Promise<void> {
    const reader = this.#readers.get(ownerNo) ?? new MatchReader()
    this.#readers.set(ownerNo, reader)
    reader.keep(schedules)
    const share = { reads: readsPerTick, sweeps: sweepsPerTick, compared: comparedPerTick }
    const groups = schedules.some(hasGroups) ? await this.#deps.store.groupsVersion({ ownerNo }) : ''
    const watched: Watched[] = []
    let leftOver: number | undefined
    for (const schedule of this.#inTurn(ownerNo, schedules)) {
      if (schedule.occurrence !== null || isOver(schedule, this.#deps.moment().at)) continue
      if (this.#isDelayed(schedule)) continue
      const each = await this.#watch(schedule, reader, groups, share).catch((error: unknown) =>
        pauseUnreadable(this.#fire, schedule, error).catch((failure) => this.#fail(schedule, failure)),
      )
      if (each === 'later') leftOver ??= schedule.scheduleNo
      else if (each) watched.push(each)
    }
    if (leftOver !== undefined) this.#first.set(ownerNo, leftOver)
    for (let more = watched.length > 0; more; ) more = await this.#readChanges(ownerNo, watched, share)
    const due = await this.#listDue(watched)
    for (const each of watched) {
      const { scheduleNo } = each.schedule
      const add = due.has(scheduleNo) ? this.#addDue(each) : Promise.resolve()
      await add
        .then(() => this.#settle(each))
        .then((isDone) => isDone && this.#deps.onDone(scheduleNo))
        .catch((error: unknown) => {
          if (!isTriedAgain(error)) this.#deps.onFailure(error, scheduleNo)
        })
    }
  }

  /** Starts with the first schedule left over from the previous tick. */
  #inTurn(ownerNo: number, schedules: StoredSchedule[]): StoredSchedule[] {
    const first = schedules.findIndex(({ scheduleNo }) => scheduleNo === this.#first.get(ownerNo))
    return first > 0 ? [...schedules.slice(first), ...schedules.slice(0, first)] : schedules
  }

  #isDelayed({ scheduleNo, version }: StoredSchedule): boolean {
    const failed = this.#failed.get(scheduleNo)
    return failed?.version === version && this.#deps.moment().clock < failed.until
  }

  /** Reports every failed attempt; the backoff makes them less and less frequent. */
  #fail({ scheduleNo, version }: StoredSchedule, failure: unknown): void {
    const before = this.#failed.get(scheduleNo)
    const delayMs = before ? Math.min(before.delayMs * 2, longestDelayMs) : firstDelayMs
    this.#failed.set(scheduleNo, { version, delayMs, until: this.#deps.moment().clock + delayMs })
    this.#deps.onFailure(failure, scheduleNo)
  }

  /**
   * Uses the in-memory state if it is current; a schedule that is new, was changed, or lags too far behind needs a sweep over
   * all devices. `later`: the owner's share of this tick does not suffice.
   */
  async #watch(
    schedule: StoredSchedule,
    reader: MatchReader,
    groups: string,
    share: Share,
  ): Promise<Watched | 'later'> {
    const { ownerNo, scheduleNo, cursor } = schedule
    const known = this.#watched.get(scheduleNo)
    const { clock } = this.#deps.moment()
    let current = reader.find(schedule, groups)
    const isOld = current === undefined || reader.isJobOld(schedule, clock)
    if (current === undefined && share.reads <= 0) return 'later'
    // Refreshing the job may wait for a later tick.
    if (isOld && share.reads-- > 0) current = await reader.read(this.#fire, schedule, { groups, clock })
    if (current === undefined) return 'later'
    this.#failed.delete(scheduleNo)
    if (known?.match.digest === current.digest) {
      // It has fired, here or on another node: executions that ended since are read again, now that their devices are stored.
      if (current.rule && known.schedule.lastFor !== schedule.lastFor)
        known.cursor = Math.min(known.cursor, cursor)
      known.schedule = schedule
      return known
    }
    if (share.sweeps-- <= 0) return 'later'
    const isKnown = schedule.matchedWhere === current.digest
    const { upTo, isLost } = await this.#deps.store.listDeviceChanges({ ownerNo, after: cursor, limit: 0 })
    const given = new GivenDevices()
    const times = { rememberedAt: clock, notBefore: 0 }
    const watched: Watched = {
      ...{ schedule, match: current, given, ...times },
      cursor: isKnown && !isLost ? cursor : upTo,
      waiting: isKnown && !isLost ? new Set() : await sweep(this.#fire, schedule, current),
    }
    this.#watched.set(scheduleNo, watched)
    return watched
  }

  /** Reads changes from the lowest cursor on. True while there are more and the share is not used up. */
  async #readChanges(ownerNo: number, watched: Watched[], share: Share): Promise<boolean> {
    const terms = watched.reduce((sum, { match }) => sum + match.size, 0)
    const affordable = Math.max(leastChanges, Math.floor(share.compared / terms))
    const after = Math.min(...watched.map(({ cursor }) => cursor))
    const { store } = this.#deps
    const { changes, moves, count, upTo, isMore, isLost } = await store.listDeviceChanges({
      ownerNo,
      after,
      limit: Math.min(changesAtOnce, affordable),
      withMoves: watched.some(({ match }) => match.rule !== undefined),
    })
    if (isLost) {
      for (const { schedule, cursor } of watched) {
        if (cursor === after) this.#watched.delete(schedule.scheduleNo)
      }
      return false
    }
    const relevant = changes.filter((change) => watched.some(({ match }) => concerns(match, change)))
    const waitAgain = watched.some(({ match }) => match.rule?.onLeave)
      ? moves.filter(({ isEnd }) => !isEnd)
      : []
    const deviceNos = [...new Set([...relevant, ...waitAgain].map(({ deviceNo }) => deviceNo))]
    const devices = await store.listSelectable({ ownerNo, deviceNos })
    const byNo = new Map(devices.map((device) => [device.deviceNo, device]))
    for (const each of watched) {
      const { cursor, schedule } = each
      const own = moves.filter((move) => move.scheduleNo === schedule.scheduleNo && move.eventId > cursor)
      await this.#judgeMoves(each, own, byNo)
      await this.#judge(each, relevant, byNo, upTo)
    }
    share.compared -= Math.max(relevant.length, 1) * terms + count
    return isMore && share.compared > 0
  }

  /** Handles executions that have ended, or that wait again although their device no longer matches. */
  async #judgeMoves(
    { schedule, match, waiting }: Watched,
    moves: ScheduledMove[],
    devices: ReadonlyMap<number, SelectableDevice>,
  ): Promise<void> {
    const { rule } = match
    if (rule === undefined || moves.length === 0) return
    const ends = moves.filter(({ isEnd }) => isEnd)
    for (const deviceNo of await settleEnds(this.#fire, schedule, rule, ends)) waiting.add(deviceNo)
    if (rule.onLeave === undefined) return
    const left = moves.filter(({ deviceNo, isEnd }) => !isEnd && isLeaver(match, devices.get(deviceNo)))
    const deviceNos = left.map(({ deviceNo }) => deviceNo)
    await settleLeavers(this.#fire, schedule, rule, deviceNos)
  }

  async #judge(
    watched: Watched,
    changes: DeviceChanged[],
    devices: ReadonlyMap<number, SelectableDevice>,
    upTo: number,
  ): Promise<void> {
    const { match, given, waiting, cursor, schedule } = watched
    const found = new Set<number>()
    const left = new Set<number>()
    for (const change of changes) {
      const { deviceNo, eventId } = change
      if (eventId <= cursor || given.has(deviceNo) || !concerns(match, change)) continue
      const device = devices.get(deviceNo)
      if (isLeaver(match, device)) left.add(deviceNo)
      else if (device && !waiting.has(deviceNo)) found.add(deviceNo)
    }
    if (match.rule && left.size > 0 && watchesLeavers(match.rule))
      await settleLeavers(this.#fire, schedule, match.rule, [...left])
    if (found.size > 0) {
      const free = await withoutGiven(this.#fire, schedule, match, [...found])
      for (const deviceNo of found) {
        if (free.has(deviceNo)) waiting.add(deviceNo)
        else if (match.rule === undefined) given.add(deviceNo)
      }
    }
    watched.cursor = Math.max(cursor, upTo)
  }

  /** Schedules with a device that is due to get the job again. */
  async #listDue(watched: Watched[]): Promise<Set<number>> {
    const idle = watched.filter(({ match, waiting }) => match.rule && waiting.size === 0)
    if (idle.length === 0) return new Set()
    const scheduleNos = idle.map(({ schedule }) => schedule.scheduleNo)
    const { clock } = this.#deps.moment()
    const first = await this.#deps.store.listFirstAgain({ scheduleNos })
    const due = first.filter(({ againAt }) => againAt !== null && againAt <= clock)
    return new Set(due.map(({ scheduleNo }) => scheduleNo))
  }

  /** Devices that are due but no longer match are dropped, so they count as new when they match again. */
  async #addDue({ schedule, match, waiting }: Watched): Promise<void> {
    const { scheduleNo } = schedule
    const { clock } = this.#deps.moment()
    const due = await this.#deps.store.listDueAgain({ scheduleNo, by: clock, limit: dueAtOnce })
    const { deviceNos } = await chooseFrom(this.#fire, schedule, match, due)
    for (const deviceNo of deviceNos) waiting.add(deviceNo)
    const left = due.filter((deviceNo) => !waiting.has(deviceNo))
    if (left.length > 0) await this.#deps.store.dropGiven({ scheduleNo, deviceNos: left, by: clock })
  }

  /** Fires for the waiting devices if allowed; otherwise stores the cursor from time to time. False: it has to wait. */
  async #settle(watched: Watched): Promise<boolean> {
    const { schedule, match, waiting, cursor, given } = watched
    const { at, clock } = this.#deps.moment()
    if (waiting.size > 0) {
      if (clock < watched.notBefore || (await waitsFor(this.#fire, schedule))) return false
      const [isLeft] = await this.#stops.judge(this.#fire, schedule.ownerNo, [schedule], { isUrgent: true })
      if (!isLeft) return false
      watched.notBefore = clock + tryAgainMs
      // A rejected fire leaves the schedule to be finished later, by any node.
      if (!(await fireMatch(this.#fire, schedule, match, waiting, cursor))) return false
      // A device that was left out gets the job when a change makes it match again.
      const left = match.rule ? waiting : await withoutGiven(this.#fire, schedule, match, [...waiting])
      for (const deviceNo of waiting) if (!left.has(deviceNo)) given.add(deviceNo)
      waiting.clear()
      watched.notBefore = 0
      watched.rememberedAt = clock
    } else if (cursor > schedule.cursor && clock - watched.rememberedAt >= rememberEveryMs) {
      watched.rememberedAt = clock
      const set = { cursor, matchedWhere: match.digest }
      await this.#deps.store.changeSchedule({ before: schedule, set, at })
    }
    return true
  }
}

/** The device exists and does not match. */
function isLeaver({ matches }: Match, device: SelectableDevice | undefined): boolean {
  return device !== undefined && !matches(device)
}

function isOver({ content: { until } }: StoredSchedule, at: number): boolean {
  return until !== null && at > until
}
