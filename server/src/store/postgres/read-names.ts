// Looks up the names in triggers in slices: a million names at once would take hundreds of megabytes. The result of a slice is
// three lists in one row, which is faster to read than a row per device.

import { namedDevices, type Refusal, toRunJob } from '../../domain/trigger/launch-run.ts'
import type { RunJob, Trigger } from '../../domain/trigger/trigger.ts'
import type { Writes } from '../queries.ts'
import { computed, json, number, orNull, rows, select, text } from '../schema/column.ts'
import { job } from '../schema/tables.ts'
import { mostOfOne, type Names, type OwnerNames } from './directory.ts'
import { type DeviceSlice, ListedDevices } from './listed-devices.ts'
import { NumberSet } from './number-set.ts'
import { texts } from './rows.ts'

const STATE = rows({ state: text() })
// In the order of the list.
const STATES = `
  SELECT catalogue_state(owner_no) AS state
  FROM unnest(CAST(:owners AS int[])) WITH ORDINALITY AS wanted (owner_no, position) ORDER BY position`
const JOB = select({ position: computed('position', number()), ...job.pick('jobNo', 'versionNo') })
const JOBS = `
  SELECT ${JOB}
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:names AS text[])) WITH ORDINALITY AS wanted (owner_no, job_name, position)
    JOIN job USING (owner_no, job_name)
  WHERE deleted_at IS NULL` as const
/** Lists in the same order, which is not that of the request. Empty: null. Names remain JSON, which takes a third of the memory. */
const DEVICE_LISTS = rows({
  deviceIds: orNull(json<string[]>()),
  deviceNos: orNull(json<number[]>()),
  deviceNames: orNull(text()),
})
// Uses a list and not a join, so that ids close together are found in one pass through the index.
const DEVICES = `
  SELECT CAST(json_agg(device_id) AS text) AS "deviceIds", CAST(json_agg(device_no) AS text) AS "deviceNos",
    CAST(json_agg(device_name) AS text) AS "deviceNames"
  FROM device WHERE owner_no = :ownerNo AND device_id = ANY (CAST(:deviceIds AS text[])) AND deleted_at IS NULL`

/** Takes a few milliseconds of the event loop, and of the server. */
const namesAtOnce = 5000

/** For a long list, devices are looked up in the order of the list (`findListed`). */
export const isLong = ({ deviceIds }: Trigger) => deviceIds.length > mostOfOne

/** The caller must hold the catalogues, so that the result does not change until the end of the transaction. */
export async function readNames(queries: Writes, triggers: Trigger[]): Promise<Names> {
  const byOwner = [...Map.groupBy(triggers, ({ ownerNo }) => ownerNo)]
  const [states, jobs, ...devices] = await Promise.all([
    queries.all(STATE, STATES, { owners: byOwner.map(([ownerNo]) => ownerNo) }),
    readJobs(queries, byOwner),
    ...byOwner.map(([ownerNo, own]) => readDevices(queries, ownerNo, own)),
  ])
  const names = byOwner.map(([ownerNo], index): [number, OwnerNames] => {
    const state = states[index]?.state ?? ''
    return [ownerNo, { state, jobs: jobs.get(ownerNo) ?? new Map(), devices: devices[index] ?? new Map() }]
  })
  return new Map(names)
}

type OfOwner = [ownerNo: number, triggers: Trigger[]]

async function readJobs(queries: Writes, byOwner: OfOwner[]): Promise<Map<number, Map<string, RunJob>>> {
  const wanted = byOwner.flatMap(([ownerNo, own]) => {
    return Array.from(new Set(own.map(({ jobName }) => jobName)), (jobName) => ({ ownerNo, jobName }))
  })
  const found = await queries.all(JOB, JOBS, {
    ownerNos: wanted.map(({ ownerNo }) => ownerNo),
    names: texts(wanted.map(({ jobName }) => jobName)),
  })
  const policyOf = await queries.readPolicies(found.map(({ versionNo }) => versionNo))
  const jobs = new Map(byOwner.map(([ownerNo]) => [ownerNo, new Map<string, RunJob>()]))
  for (const { position, jobNo, versionNo } of found) {
    const { ownerNo, jobName } = wanted[position - 1] as (typeof wanted)[number]
    jobs.get(ownerNo)?.set(jobName, toRunJob({ jobNo, versionNo }, policyOf(versionNo)))
  }
  return jobs
}

async function readDevices(
  queries: Writes,
  ownerNo: number,
  triggers: Trigger[],
): Promise<OwnerNames['devices']> {
  const known: OwnerNames['devices'] = new Map()
  const wanted = new Set(triggers.flatMap((trigger) => (isLong(trigger) ? [] : trigger.deviceIds)))
  await eachSlice(queries, ownerNo, [...wanted], ({ found, deviceNos, names }) => {
    const deviceNames: string[] = JSON.parse(names)
    for (const [position, deviceId] of found.entries()) {
      const [deviceNo, deviceName] = [deviceNos[position] ?? 0, deviceNames[position] ?? '']
      known.set(deviceId, { deviceNo, deviceId, deviceName, namedBy: 0, encoded: undefined })
    }
    return true
  })
  return known
}

/** Like `findDevices`, for a long list; releases the event loop between slices. */
export async function findListed(
  queries: Writes,
  { ownerNo, deviceIds }: Trigger,
): Promise<ListedDevices | Refusal> {
  const devices = new ListedDevices()
  const seen = new NumberSet()
  const unknown = new Set<string>()
  await eachSlice(queries, ownerNo, deviceIds, (slice) => {
    const { asked, found, deviceNos } = slice
    const placeOf = positionsOf(found, asked)
    const positions: number[] = []
    for (const [index, deviceId] of asked.entries()) {
      const position = placeOf(deviceId, index)
      if (position === undefined) unknown.add(deviceId)
      else if (seen.add(deviceNos[position] ?? 0)) positions.push(position)
      if (unknown.size === namedDevices) return false
    }
    devices.add(inOrder(slice, positions))
    return true
  })
  return unknown.size > 0 ? { kind: 'unknown-device', deviceIds: [...unknown] } : devices
}

/** `found`: in the same order as `deviceNos` and `names`, which is not that of the request. `names`: a JSON list. */
type FoundSlice = { asked: string[]; found: string[]; deviceNos: number[]; names: string }

/** Continues until `take` ends it. The next slice is read while the current one is processed. */
async function eachSlice(
  queries: Writes,
  ownerNo: number,
  deviceIds: string[],
  take: (slice: FoundSlice) => boolean,
): Promise<void> {
  const ask = (start: number) => {
    const asked = deviceIds.slice(start, start + namesAtOnce)
    if (asked.length === 0) return undefined
    const lists = queries.one(DEVICE_LISTS, DEVICES, { ownerNo, deviceIds: texts(asked) })
    // Not awaited yet; an error is handled when it is awaited, or by the transaction.
    lists.catch(() => undefined)
    return { asked, lists }
  }
  let next = ask(0)
  for (let start = namesAtOnce; next; start += namesAtOnce) {
    const { asked, lists } = next
    next = ask(start)
    const { deviceIds: found, deviceNos, deviceNames } = await lists
    if (!take({ asked, found: found ?? [], deviceNos: deviceNos ?? [], names: deviceNames ?? '[]' })) return
  }
}

/** Fast if the list is in the order of the index, as most lists are. */
function positionsOf(
  found: string[],
  slice: string[],
): (deviceId: string, index: number) => number | undefined {
  if (found.length === slice.length && found.every((deviceId, index) => deviceId === slice[index])) {
    return (_, index) => index
  }
  const positions = new Map(found.map((deviceId, position) => [deviceId, position]))
  return (deviceId) => positions.get(deviceId)
}

/** The devices at these positions, usually all of them in the same order. */
function inOrder({ asked, found, deviceNos, names }: FoundSlice, positions: number[]): DeviceSlice {
  if (positions.length === asked.length && positions.every((position, index) => position === index))
    return { deviceIds: asked, deviceNos: Int32Array.from(deviceNos), names }
  const deviceNames: string[] = JSON.parse(names)
  return {
    deviceIds: positions.map((position) => found[position] ?? ''),
    deviceNos: Int32Array.from(positions, (position) => deviceNos[position] ?? 0),
    names: JSON.stringify(positions.map((position) => deviceNames[position])),
  }
}
