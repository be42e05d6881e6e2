// When devices are offered the runs of a schedule: its occurrences, the window in each time zone of the devices, a freeze.

import type { FleetGroups, Freeze, WindowTimes } from '@jobcast/client'
import { isTimeZone, termText } from '@jobcast/contract/selector'
import { jobcast } from '../api/client.ts'
import { parseTime } from '../parts/parse-time.ts'

export const stripMs = 48 * 60 * 60_000
const zonesAtMost = 8
const openingsAtMost = 20
const defaultZone = 'UTC'

type DeliveryQuery = {
  /** The devices, as a selector. */
  where: string
  windowName: string | undefined
  from: number
}

type Span = { from: number; until: number }
/** `openings`: undefined if there is no window. */
export type ZoneOfDevices = { zone: string; devices: number; openings: Span[] | undefined }
export type DeliveryContent = { zones: ZoneOfDevices[]; total: number; freeze: Freeze }

type Options = { signal: AbortSignal }

export async function readDelivery(
  { where, windowName, from }: DeliveryQuery,
  options: Options,
): Promise<DeliveryContent> {
  const [fleet, all, freeze] = await Promise.all([
    jobcast.fleet.groups({ by: 'timeZone', limit: zonesAtMost }, options),
    jobcast.devices.count(where, options),
    jobcast.fleet.getFreeze(options),
  ])
  const counted = await Promise.all(zonesOf(fleet).map((zone) => countIn(zone, where, options)))
  const named = counted.filter(({ devices }) => devices > 0)
  const others = all.total - named.reduce((sum, { devices }) => sum + devices, 0)
  const zones = addOthers(named, others)
  const zoned = zones.map(async (each) => ({
    ...each,
    openings: windowName === undefined ? undefined : await openingsOf(windowName, each.zone, from, options),
  }))
  return { zones: await Promise.all(zoned), total: all.total, freeze }
}

function zonesOf({ groups }: FleetGroups): string[] {
  return groups.flatMap(({ value }) => (value !== null && isTimeZone(value) ? [value] : []))
}

type Counted = { zone: string; devices: number }

async function countIn(zone: string, where: string, options: Options): Promise<Counted> {
  const { total } = await jobcast.devices.count(`(${where}) and ${termText('timeZone', zone)}`, options)
  return { zone, devices: total }
}

/** Devices without a time zone are in UTC. */
function addOthers(named: Counted[], devices: number): Counted[] {
  if (devices <= 0) return named
  const hasDefault = named.some(({ zone }) => zone === defaultZone)
  if (!hasDefault) return [...named, { zone: defaultZone, devices }]
  return named.map((each) =>
    each.zone === defaultZone ? { ...each, devices: each.devices + devices } : each,
  )
}

async function openingsOf(
  windowName: string,
  timeZone: string,
  from: number,
  { signal }: Options,
): Promise<Span[]> {
  const after = new Date(from).toISOString()
  const { items }: WindowTimes = await jobcast.windows.next(
    windowName,
    { count: openingsAtMost, after, timeZone },
    { signal },
  )
  return items.map(({ at, offersUntil }) => ({ from: parseTime(at), until: parseTime(offersUntil) }))
}
