// What the names in triggers stand for, read a slice at a time: a million names at once would take up hundreds of
// megabytes on their way. A slice is answered as three lists in one row, which
// take less to read than a row for each device.

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
/** Each in the same order, which is not that of the question. None: null. Names stay JSON, which takes a third of the memory. */
const DEVICE_LISTS = rows({
  deviceIds: orNull(json<string[]>()),
  deviceNos: orNull(json<number[]>()),
  deviceNames: orNull(text()),
})
// By a list and not by a join: ids that lie close together are found in one pass through the index.
const DEVICES = `
  SELECT CAST(json_agg(device_id) AS text) AS "deviceIds", CAST(json_agg(device_no) AS text) AS "deviceNos",
    CAST(json_agg(device_name) AS text) AS "deviceNames"
  FROM device WHERE owner_no = :ownerNo AND device_id = ANY (CAST(:deviceIds AS text[])) AND deleted_at IS NULL`

/** A few milliseconds of the event loop, and of the server. */
const namesAtOnce = 5000

/** Its devices are not looked up by name but found in the order of the list (`findListed`). */
export const isLong = ({ deviceIds }: Trigger) => deviceIds.length > mostOfOne

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
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

/** The devices of a long list, as `findDevices` finds those of a short one; between two slices others have their turn. */
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

/** `found`: in the order of the two others, which is not that of the question. `names`: a list in JSON. */
type FoundSlice = { asked: string[]; found: string[]; deviceNos: number[]; names: string }

/** Until `take` says that it is enough. The next slice is looked up while one is taken in. */
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
    // Nobody waits for it yet; a failure is seen where it is waited for, or with the transaction.
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

/** Most lists are in the order of the index, so that each is found in its position. */
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

/** Those at these positions; mostly all of them as they are. */
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
