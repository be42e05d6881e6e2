// What will hold back a planned run once it is created, in the order in which the holds apply.

import { deviceZone, type PlanHold, toInstantOrNull } from '@jobcast/contract'
import { toLocalText } from '@jobcast/contract/cron'
import type { Caller } from '../access/caller.ts'
import { readKeyNames } from '../access/key-names.ts'
import type { WallInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import { inWords } from '../execution/explain-end.ts'
import { neededApprovals } from '../rollout/approval.ts'
import { explainFrozen } from '../rollout/explain-rollout.ts'
import type { RequestedPlan } from '../rollout/plan-rollout.ts'
import { defaultZone, zoneAttribute, zoneOf } from '../window/device-zone.ts'
import type { StoredWindow } from '../window/ports/windows.ts'
import { WindowTimes } from '../window/window-times.ts'

type HoldsDeps = { store: Store; now: () => number }

type PlannedRun = {
  release: RequestedPlan | undefined
  window: StoredWindow | undefined
  /** Also the windows of devices and groups. */
  ignoresWindows: boolean
  deviceIds: string[] | undefined
}

/** `windowWaitMs`: the longest wait of a device for its window after the start of the run; Infinity: it never opens. */
type PlanHolds = { holds: PlanHold[]; windowWaitMs: number }

const hold = (code: PlanHold['code'], text: string, until: WallInstant | null = null): PlanHold => ({
  code,
  text,
  until: toInstantOrNull(until),
})

export async function findHolds(
  deps: HoldsDeps,
  caller: Caller,
  { release, window, ignoresWindows, deviceIds }: PlannedRun,
): Promise<PlanHolds> {
  const now = deps.now()
  const startAt = release?.startAt ?? now
  const holds: PlanHold[] = []
  if (startAt > now) holds.push(hold('SCHEDULED', `The run starts at ${inWords(startAt)}.`, startAt))
  if (release?.approval) {
    const needed = neededApprovals(release)
    const many = needed === 1 ? 'approval' : `${needed} approvals`
    const text = `The run waits for ${many} by somebody who has not planned, created or changed it.`
    holds.push(hold('AWAITING_APPROVAL', text))
  }
  const frozen = await findFreeze(deps, caller, startAt)
  if (frozen) holds.push(frozen)
  const outside = window && (await findOutside(deps, caller, window, deviceIds, startAt))
  if (outside) holds.push(outside.hold)
  const others = ignoresWindows ? [] : await findOutsideOwn(deps, caller, window, deviceIds, startAt)
  for (const each of others) holds.push(each.hold)
  const waits = others.map(({ waitMs }) => waitMs).filter(Number.isFinite)
  return { holds, windowWaitMs: Math.max(outside?.waitMs ?? 0, ...waits) }
}

/** How many windows of devices and groups are listed; there may be a thousand. */
const mostHolds = 20

/** Windows of devices and groups that are closed when the run starts. */
async function findOutsideOwn(
  deps: HoldsDeps,
  caller: Caller,
  ofRun: StoredWindow | undefined,
  deviceIds: string[] | undefined,
  startAt: WallInstant,
): Promise<Outside[]> {
  const found: Outside[] = []
  for (const [windowName, under] of await readOwnWindows(deps, caller, deviceIds)) {
    if (found.length === mostHolds) break
    if (windowName === ofRun?.windowName) continue
    const window = await deps.store.getWindow({ ownerNo: caller.ownerNo, windowName })
    const all = deviceIds?.length ?? Infinity
    const outside = window && (await findOutside(deps, caller, window, under, startAt, all))
    if (outside) found.push(outside)
  }
  return found
}

/** Devices by window; for very many devices, all windows in use by the owner, without their devices. */
async function readOwnWindows(
  { store }: HoldsDeps,
  { ownerNo }: Caller,
  deviceIds: string[] | undefined,
): Promise<Map<string, string[] | undefined>> {
  const used = await store.listUsedWindows({ ownerNo })
  if (used.length === 0 || deviceIds === undefined) return new Map(used.map((name) => [name, undefined]))
  const under = new Map<string, Set<string>>()
  for (let start = 0; start < deviceIds.length; start += lookedAtOnce) {
    const some = deviceIds.slice(start, start + lookedAtOnce)
    for (const { deviceId, windowName } of await store.listDeviceWindows({ ownerNo, deviceIds: some })) {
      under.set(windowName, (under.get(windowName) ?? new Set()).add(deviceId))
    }
  }
  return new Map([...under].sort().map(([name, devices]) => [name, [...devices]]))
}

/** Undefined: there is no freeze, or it will have ended when the run starts. */
async function findFreeze(
  { store, now }: HoldsDeps,
  { ownerNo }: Caller,
  startAt: WallInstant,
): Promise<PlanHold | undefined> {
  const freeze = await store.getFreeze({ ownerNo })
  if (freeze === undefined || (freeze.until !== null && freeze.until <= startAt)) return undefined
  const { text, until } = explainFrozen(freeze, await readKeyNames(store, ownerNo, now(), [freeze.principal]))
  return hold('FROZEN', text, until)
}

type Outside = { hold: PlanHold; waitMs: number }

/** Undefined: the window is open for all these devices when the run starts. `all`: number of devices of the run. */
async function findOutside(
  deps: HoldsDeps,
  caller: Caller,
  window: StoredWindow,
  deviceIds: string[] | undefined,
  startAt: WallInstant,
  all?: number,
): Promise<Outside | undefined> {
  const zones = await countZones(deps, caller, window, deviceIds)
  let [closed, total] = [0, 0]
  const waits: { zone: string; opensAt: number }[] = []
  for (const [zone, count] of zones) {
    total += count
    const opensAt = new WindowTimes(window, zone).nextOffer(startAt)?.from ?? Infinity
    if (opensAt <= startAt) continue
    closed += count
    waits.push({ zone, opensAt })
  }
  waits.sort((one, other) => one.opensAt - other.opensAt)
  const [first, last] = [waits[0], waits.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const of = all ?? total
  const some = closed === of ? '' : deviceIds ? ` for ${closed} of ${of} devices` : ' for some devices'
  const isOnce = first.opensAt === last.opensAt
  const opens = isOnce
    ? opensInWords(first)
    : `${opensInWords(first)} for the first, ${opensInWords(last)} for the last`
  const until = Number.isFinite(last.opensAt) ? last.opensAt : null
  const text = `Window ${window.windowName} is closed${some}; it ${opens}.`
  return { hold: hold('OUTSIDE_WINDOW', text, until), waitMs: last.opensAt - startAt }
}

function opensInWords({ zone, opensAt }: { zone: string; opensAt: number }): string {
  if (!Number.isFinite(opensAt)) return 'never opens again'
  return `opens at ${toLocalText(zone, opensAt)} in ${zone}, ${inWords(opensAt)}`
}

/** Devices per time zone; for very many devices, all time zones of the owner's devices. */
async function countZones(
  { store }: HoldsDeps,
  { ownerNo }: Caller,
  { timeZone }: StoredWindow,
  deviceIds: string[] | undefined,
): Promise<Map<string, number>> {
  if (timeZone !== deviceZone) return new Map([[timeZone, deviceIds?.length ?? 1]])
  if (deviceIds === undefined) {
    const zones = new Set([...(await store.listZones({ ownerNo })), defaultZone])
    return new Map([...zones].map((zone) => [zone, 1]))
  }
  const counts = new Map<string, number>()
  for (let start = 0; start < deviceIds.length; start += lookedAtOnce) {
    const some = deviceIds.slice(start, start + lookedAtOnce)
    const found = await store.listDeviceValues({ ownerNo, deviceIds: some, names: [zoneAttribute] })
    for (const { attributes } of found) {
      const zone = zoneOf(attributes[zoneAttribute])
      counts.set(zone, (counts.get(zone) ?? 0) + 1)
    }
  }
  return counts
}

const lookedAtOnce = 5000
