// Once a second: which devices have started to match a schedule that gives its job to each of them once. Only devices that
// have changed are looked at, each once for all schedules of its owner. With several nodes, one of them does it for an
// owner; if two do for a moment, the store lets one of them fire.

import type { SelectableDevice } from '@jobcast/contract/selector'
import { fireMatch, waitsFor } from '../domain/fire-match.ts'
import { type FireDeps, isTriedAgain, pauseUnreadable } from '../domain/fire-schedule.ts'
import { concerns, type Match, readMatch, sweep, withoutGiven } from '../domain/match-schedule.ts'
import type { DeviceLink } from '../domain/ports/device-link.ts'
import type { DeviceChanged, StoredSchedule } from '../domain/ports/schedules.ts'
import { GivenDevices } from './given-devices.ts'

export type MatchTickerDeps = Omit<FireDeps, 'link'> & {
  onFailure: (error: unknown, scheduleNo?: number) => void
  onDone: (scheduleNo: number) => void
}

const changesAtOnce = 2000
/** Up to here a crash makes nobody look again. */
const rememberEveryMs = 60_000
/** After a run that could not be made. */
const tryAgainMs = 60_000

/** So soon a changed job is noticed that needs other attributes. */
const readAgainMs = 5000

/** What this node knows of a schedule. */
type Watched = {
  schedule: StoredSchedule
  match: Match
  cursor: number
  /** Devices that match and have not been given it. */
  waiting: Set<number>
  given: GivenDevices
  rememberedAt: number
  notBefore: number
  /** When its job and its groups were looked at. */
  readAt: number
}

export class MatchTicker {
  readonly #deps: MatchTickerDeps
  readonly #watched = new Map<number, Watched>()
  /** Set before the first tick. */
  link: DeviceLink
  /** Whether this node does it for the owner. */
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
    for (const [ownerNo, schedules] of Map.groupBy(ours, (each) => each.ownerNo)) {
      if (this.#deps.stopping.aborted) return
      await this.#lookAt(ownerNo, schedules).catch((error: unknown) => this.#deps.onFailure(error))
    }
  }

  get #fire(): FireDeps {
    return { ...this.#deps, link: this.link }
  }

  async #lookAt(ownerNo: number, schedules: StoredSchedule[]): Promise<void> {
    const watched: Watched[] = []
    for (const schedule of schedules) {
      if (schedule.firing !== null || isOver(schedule, this.#deps.moment().at)) continue
      const each = await this.#watch(schedule)
        .catch((error: unknown) => pauseUnreadable(this.#fire, schedule, error))
        .catch((error: unknown) => this.#deps.onFailure(error, schedule.scheduleNo))
      if (each) watched.push(each)
    }
    for (let more = watched.length > 0; more; ) more = await this.#readChanges(ownerNo, watched)
    for (const each of watched) {
      const { scheduleNo } = each.schedule
      await this.#settle(each)
        .then((isDone) => isDone && this.#deps.onDone(scheduleNo))
        .catch((error: unknown) => {
          if (!isTriedAgain(error)) this.#deps.onFailure(error, scheduleNo)
        })
    }
  }

  /** From memory; where it is new, was changed, or lies too far back, all devices are looked at. */
  async #watch(schedule: StoredSchedule): Promise<Watched | undefined> {
    const known = this.#watched.get(schedule.scheduleNo)
    const { clock } = this.#deps.moment()
    const isFresh = known && isSame(known.schedule, schedule) && clock - known.readAt < readAgainMs
    const current = isFresh && !hasGroups(schedule) ? known.match : await readMatch(this.#fire, schedule)
    if (known?.match.digest === current.digest) {
      if (!isFresh) known.readAt = clock
      known.schedule = schedule
      return known
    }
    const { ownerNo, scheduleNo, cursor } = schedule
    const isKnown = schedule.matchedWhere === current.digest
    const { upTo, isLost } = await this.#deps.store.listDeviceChanges({ ownerNo, after: cursor, limit: 0 })
    const given = new GivenDevices()
    const times = { rememberedAt: clock, notBefore: 0, readAt: clock }
    const watched: Watched = {
      ...{ schedule, match: current, given, ...times },
      cursor: isKnown && !isLost ? cursor : upTo,
      waiting: isKnown && !isLost ? new Set() : await sweep(this.#fire, schedule, current),
    }
    this.#watched.set(scheduleNo, watched)
    return watched
  }

  /** What has changed since the one that is furthest behind; true while there is more. */
  async #readChanges(ownerNo: number, watched: Watched[]): Promise<boolean> {
    const after = Math.min(...watched.map(({ cursor }) => cursor))
    const { store } = this.#deps
    const { changes, upTo, isMore, isLost } = await store.listDeviceChanges({
      ownerNo,
      after,
      limit: changesAtOnce,
    })
    if (isLost) {
      for (const { schedule, cursor } of watched) {
        if (cursor === after) this.#watched.delete(schedule.scheduleNo)
      }
      return false
    }
    const relevant = changes.filter((change) => watched.some(({ match }) => concerns(match, change)))
    const deviceNos = [...new Set(relevant.map(({ deviceNo }) => deviceNo))]
    const devices = await store.listSelectable({ ownerNo, deviceNos })
    const byNo = new Map(devices.map((device) => [device.deviceNo, device]))
    for (const each of watched) await this.#judge(each, relevant, byNo, upTo)
    return isMore
  }

  async #judge(
    watched: Watched,
    changes: DeviceChanged[],
    devices: ReadonlyMap<number, SelectableDevice>,
    upTo: number,
  ): Promise<void> {
    const { match, given, waiting, cursor, schedule } = watched
    const found = new Set<number>()
    for (const change of changes) {
      const { deviceNo, eventId } = change
      if (eventId <= cursor || given.has(deviceNo) || waiting.has(deviceNo) || !concerns(match, change))
        continue
      const device = devices.get(deviceNo)
      if (device && match.matches(device)) found.add(deviceNo)
    }
    if (found.size > 0) {
      const left = await withoutGiven(this.#fire, schedule, [...found])
      for (const deviceNo of found) {
        if (left.has(deviceNo)) waiting.add(deviceNo)
        else given.add(deviceNo)
      }
    }
    watched.cursor = Math.max(cursor, upTo)
  }

  /** Fires for those that wait, if it may; else notes from time to time how far it has looked. False: it waits. */
  async #settle(watched: Watched): Promise<boolean> {
    const { schedule, match, waiting, cursor, given } = watched
    const { at, clock } = this.#deps.moment()
    if (waiting.size > 0) {
      if (clock < watched.notBefore || (await waitsFor(this.#fire, schedule))) return false
      watched.notBefore = clock + tryAgainMs
      // Rejected, it is finished by whoever finds it.
      if (!(await fireMatch(this.#fire, schedule, match, waiting, cursor))) return false
      // One that was left out gets it when it changes so that it matches again.
      const left = await withoutGiven(this.#fire, schedule, [...waiting])
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

function isOver({ content: { until } }: StoredSchedule, at: number): boolean {
  return until !== null && at > until
}

function isSame(one: StoredSchedule, other: StoredSchedule): boolean {
  return JSON.stringify(one.content.targets) === JSON.stringify(other.content.targets)
}

/** What a group stands for may change without the schedule. */
function hasGroups({ content: { targets } }: StoredSchedule): boolean {
  return targets.group !== undefined || (targets.where?.includes('group') ?? false)
}
