// A window: the times at which work may be offered to devices, as a cron pattern with a duration, in one time zone or
// in that of each device. A run under a window is created at once; its executions wait until the window is open for
// their devices. This file has the owner's operations.
//
// Read next: window-times.ts, when a window is open in a zone; judge-windows.ts and open-zones.ts, for which zones it
// is open now; device-zone.ts, the zone a device is in; run-window.ts, the window of a run; explain-window.ts, why an
// execution waits for it.

import {
  ApiError,
  deviceZone,
  parseInstant,
  windows as resource,
  type WindowContent,
  type WindowTimesQuery,
  windowProblem,
} from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { lineageOf } from '../access/lineage.ts'
import { principalOf } from '../access/principal.ts'
import { tooMany } from '../access/quotas.ts'
import { originOf } from '../audit/audit.ts'
import type { Expectation } from '../common/entity-tag.ts'
import { usersText } from '../common/in-use.ts'
import type { BothClocks } from '../common/instants.ts'
import { notExpected, notFound } from '../common/not-found.ts'
import type { Put } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { readCron } from '../schedule/cron-pattern.ts'
import { defaultZone } from './device-zone.ts'
import { JudgedZones } from './judge-windows.ts'
import type { StoredWindow, WindowRemoval, WindowRule } from './ports/windows.ts'
import { type Opening, WindowTimes } from './window-times.ts'

export type WindowDeps = {
  store: Store
  now: () => number
  moment: () => BothClocks
  /** Takes effect on all nodes. */
  windows: { changed(): Promise<void> }
}

export async function putWindow(
  { store, moment, windows }: WindowDeps,
  caller: Caller,
  windowName: string,
  content: WindowContent,
  before: Expectation = {},
): Promise<Put<StoredWindow>> {
  const { ownerNo } = caller
  const rule = readRule(content)
  const { at, clock } = moment()
  const openZones = await new JudgedZones(rule).judge(await store.listZones({ ownerNo }), at)
  const principal = principalOf(caller)
  const by = { principal, lineage: await lineageOf(store, principal), at, clock, ...originOf(caller) }
  const window = { ownerNo, windowName, ...rule, openZones }
  const outcome = await store.putWindow({ ...window, ...by, most: resource.quota, ...before })
  if (outcome.kind === 'not-expected') throw notExpected(resource, windowName, before)
  if (outcome.kind === 'too-many') throw tooMany(resource)
  await windows.changed()
  return { created: outcome.created, value: outcome.value }
}

/** Throws J-500 and J-507. */
function readRule(content: WindowContent): WindowRule {
  const { cron, durationMinutes, timeZone = deviceZone, cutoffMinutes = 0, except = [] } = content
  const problem = windowProblem(content)
  if (problem) throw new ApiError('J-500', problem)
  readCron(cron, timeZone === deviceZone ? defaultZone : timeZone, '')
  return { cron, durationMinutes, timeZone, cutoffMinutes, except }
}

export async function getWindow(
  { store }: Pick<WindowDeps, 'store'>,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  windowName: string,
): Promise<StoredWindow> {
  const window = await store.getWindow({ ownerNo, windowName })
  if (window === undefined) throw notFound('J-311', windowName)
  return window
}

/** Requires the window that a job or run names. */
export async function requireWindow(
  { store }: Pick<WindowDeps, 'store'>,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  windowName: string,
): Promise<void> {
  if ((await store.getWindow({ ownerNo, windowName })) === undefined) throw noWindow(windowName)
}

export function noWindow(windowName = ''): ApiError {
  const detail = `There is no window ${JSON.stringify(windowName)}.`
  return new ApiError('J-311', { field: 'window', detail })
}

export async function deleteWindow(
  { store, now, windows }: WindowDeps,
  caller: Caller,
  windowName: string,
): Promise<void> {
  const by = { principal: principalOf(caller), at: now(), ...originOf(caller) }
  const outcome = await store.deleteWindow({ ownerNo: caller.ownerNo, windowName, ...by })
  if (outcome.kind === 'unknown-window') throw notFound('J-311', windowName)
  if (outcome.kind === 'in-use') throw new ApiError('J-315', { suffix: usersOf(outcome) })
  await windows.changed()
}

function usersOf(users: Extract<WindowRemoval, { kind: 'in-use' }>): string {
  const { jobNames, scheduleNames, runIds, groupNames, deviceIds, devices } = users
  const named = { job: jobNames, schedule: scheduleNames, 'unfinished run': runIds, group: groupNames }
  return usersText({ ...named, device: deviceIds }, { device: devices })
}

/** The openings, and the zone that they are for. */
export async function listOpenings(
  deps: WindowDeps,
  caller: Caller,
  windowName: string,
  { count, timeZone, after }: WindowTimesQuery,
): Promise<{ zone: string; openings: Opening[] }> {
  const window = await getWindow(deps, caller, windowName)
  const ownZone = window.timeZone === deviceZone ? undefined : window.timeZone
  const zone = ownZone ?? timeZone ?? defaultZone
  if (timeZone !== undefined) readCron(window.cron, timeZone, '')
  const times = new WindowTimes(window, zone)
  const openings: Opening[] = []
  let at = after === undefined ? deps.now() : parseInstant(after)
  while (openings.length < count) {
    const opening = times.opening(at)
    if (opening === undefined) break
    openings.push(opening)
    at = opening.until
  }
  return { zone, openings }
}
