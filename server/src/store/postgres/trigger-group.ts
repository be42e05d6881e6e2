// A group of triggers on its way to its transaction: names become numbers, and ids are given.

import {
  type EarlierCall,
  findDevices,
  jobOf,
  type NewRun,
  namedDevices,
  newRun,
  type Refusal,
  type RunDevice,
  type RunJob,
  refuseOverQuota,
  refuseUnknownWindow,
  refuseUnplanned,
  toRunJob,
  windowNamed,
} from '../../domain/launch-run.ts'
import type { LargeTrigger, Trigger } from '../../domain/ports/triggers.ts'
import type { Queries, Writes } from '../queries.ts'
import { computed, number, rows, type Selection, select, text } from '../schema/column.ts'
import { device, job, offerWindow } from '../schema/tables.ts'
import type { Names, OwnerNames } from './directory.ts'
import type { OldestRuns } from './oldest-runs.ts'
import { texts } from './rows.ts'
import type { FirstIds } from './transaction.ts'

const position = computed('position', number())
const STATE = rows({ state: text() })
// In the order of the list.
const STATES = `
  SELECT catalogue_state(owner_no) AS state
  FROM unnest(CAST(:owners AS int[])) WITH ORDINALITY AS wanted (owner_no, position) ORDER BY position`
const JOB = select({ position, ...job.pick('jobNo', 'versionNo') })
const JOBS = `
  SELECT ${JOB}
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:names AS text[])) WITH ORDINALITY AS wanted (owner_no, job_name, position)
    JOIN job USING (owner_no, job_name)
  WHERE deleted_at IS NULL`
const DEVICE = select({ position, ...device.pick('deviceNo', 'deviceName') })
const DEVICES = `
  SELECT ${DEVICE}
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:names AS text[])) WITH ORDINALITY AS wanted (owner_no, device_id, position)
    JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL`

// The last of so many that a device may have: of most devices the index has a few entries.
const FULL_DEVICE = rows({ deviceNo: device.fields.deviceNo })
const FULL = `
  SELECT wanted.device_no AS "deviceNo" FROM unnest(CAST(:deviceNos AS int[])) AS wanted (device_no)
  WHERE EXISTS (
    SELECT FROM execution
    WHERE execution.device_no = wanted.device_no AND state <= 'CANCELING' OFFSET CAST(:skipped AS bigint) LIMIT 1)`

const FULL_ID = select(device.pick('deviceId'))
const FULL_IDS = `
  SELECT ${FULL_ID} FROM (${FULL} LIMIT ${namedDevices}) AS found JOIN device ON device.device_no = found."deviceNo"`

const MOST = rows({ most: number(), lastRunId: number() })
const MOST_OF_DEVICE = `
  SELECT last_id.run_id + 1 - coalesce(
    (SELECT run.run_id FROM run WHERE owner_no = :ownerNo AND NOT ended ORDER BY run.run_id LIMIT 1),
    last_id.run_id + 1) AS most, last_id.run_id AS "lastRunId"
  FROM last_id`

export type Planned = { trigger: Trigger; job: RunJob; devices: RunDevice[] }
export type Launch = Planned & { run: NewRun }
export type Entry = Launch | Refusal | EarlierCall

const noDevices: ReadonlySet<number> = new Set()

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
export async function readNames(queries: Writes, triggers: Trigger[]): Promise<Names> {
  const byOwner = [...Map.groupBy(triggers, ({ ownerNo }) => ownerNo)]
  const wanted = (namesOf: (trigger: Trigger) => string[]): Wanted =>
    byOwner.map(([ownerNo, own]) => ({ ownerNo, names: new Set(own.flatMap(namesOf)) }))
  const [states, jobs, devices] = await Promise.all([
    queries.all(STATE, STATES, { owners: byOwner.map(([ownerNo]) => ownerNo) }),
    find(
      queries,
      JOB,
      JOBS,
      wanted(({ jobName }) => [jobName]),
      (row) => row,
    ),
    find(
      queries,
      DEVICE,
      DEVICES,
      wanted(({ deviceIds }) => deviceIds),
      ({ deviceNo, deviceName }, deviceId): RunDevice => ({ deviceNo, deviceId, deviceName, namedBy: 0 }),
    ),
  ])
  const versions = jobs.flatMap((own) => Array.from(own.values(), ({ versionNo }) => versionNo))
  const policyOf = await queries.policies.read(queries, versions)
  const names = byOwner.map(([ownerNo], index): [number, OwnerNames] => {
    const own = Array.from(jobs[index] ?? [], ([jobName, { jobNo, versionNo }]): [string, RunJob] => {
      return [jobName, toRunJob({ jobNo, versionNo }, policyOf(versionNo))]
    })
    const state = states[index]?.state ?? ''
    return [ownerNo, { state, jobs: new Map(own), devices: devices[index] ?? new Map() }]
  })
  return new Map(names)
}

const WINDOW = rows(offerWindow.pick('ownerNo', 'windowName'))
const WINDOWS = `
  SELECT owner_no AS "ownerNo", window_name AS "windowName"
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:names AS text[])) AS wanted (owner_no, window_name)
    JOIN offer_window USING (owner_no, window_name)`

export type HasWindow = (ownerNo: number, windowName: string) => boolean

/** Of the windows that triggers name. `lock`: for who does not hold the catalogue, so that they stay until the commit. */
export async function readWindows(
  queries: Queries,
  triggers: Pick<Trigger, 'ownerNo' | 'window'>[],
  lock: '' | 'FOR SHARE OF offer_window' = '',
): Promise<HasWindow> {
  const wanted = triggers.flatMap((trigger) => {
    const windowName = windowNamed(trigger)
    return windowName === undefined ? [] : [{ ownerNo: trigger.ownerNo, windowName }]
  })
  if (wanted.length === 0) return () => false
  const values = {
    ownerNos: wanted.map(({ ownerNo }) => ownerNo),
    names: texts(wanted.map(({ windowName }) => windowName)),
  }
  const found = await queries.all(WINDOW, `${WINDOWS} ${lock}`, values)
  return (ownerNo, windowName) =>
    found.some((each) => each.ownerNo === ownerNo && each.windowName === windowName)
}

/** Devices that may not have more, by their numbers. Most triggers name no device that could have too many. */
export async function readFull(
  queries: Writes,
  triggers: Trigger[],
  names: Names,
  oldestRuns: OldestRuns,
): Promise<ReadonlySet<number>> {
  const full = new Set<number>()
  for (const [ownerNo, own] of Map.groupBy(triggers, ({ ownerNo }) => ownerNo)) {
    const limited = own.filter(({ quota }) => quota !== undefined && quota.perDevice > 0)
    const perDevice = limited[0]?.quota?.perDevice
    if (perDevice === undefined || !(await mayBeFull(queries, ownerNo, perDevice, oldestRuns))) continue
    const known = names.get(ownerNo)?.devices
    const named = new Set(limited.flatMap(({ deviceIds }) => deviceIds))
    const deviceNos = Array.from(named, (deviceId) => known?.get(deviceId)?.deviceNo ?? []).flat()
    const found = await queries.all(FULL_DEVICE, FULL, { deviceNos, skipped: perDevice - 1 })
    for (const { deviceNo } of found) full.add(deviceNo)
  }
  return full
}

async function mayBeFull(
  queries: Writes,
  ownerNo: number,
  perDevice: number,
  oldestRuns: OldestRuns,
): Promise<boolean> {
  if (oldestRuns.isFarBelow(ownerNo, perDevice)) return false
  const { most, lastRunId } = await queries.one(MOST, MOST_OF_DEVICE, { ownerNo })
  oldestRuns.note(ownerNo, most, lastRunId)
  return most >= perDevice
}

/** Of a large run: some of the devices that may not have more. */
export async function findFull(
  queries: Writes,
  { ownerNo, quota, deviceNos }: LargeTrigger,
  oldestRuns: OldestRuns,
): Promise<string[]> {
  const perDevice = quota?.perDevice ?? 0
  if (perDevice === 0 || !(await mayBeFull(queries, ownerNo, perDevice, oldestRuns))) return []
  const full: string[] = []
  for (let start = 0; start < deviceNos.length && full.length < namedDevices; start += namesAtOnce) {
    const batch = Array.from(deviceNos.subarray(start, start + namesAtOnce))
    const found = await queries.all(FULL_ID, FULL_IDS, { deviceNos: batch, skipped: perDevice - 1 })
    full.push(...found.map(({ deviceId }) => deviceId))
  }
  return full.slice(0, namedDevices)
}

type Wanted = { ownerNo: number; names: Set<string> }[]

/** Those that are there of all that the group names, for each owner. */
async function find<Of extends { position: number }, Ref>(
  queries: Writes,
  rows: Selection<Of>,
  sql: string,
  wanted: Wanted,
  toRef: (row: Of, name: string) => Ref,
): Promise<Map<string, Ref>[]> {
  const found = wanted.map(() => new Map<string, Ref>())
  for (const slice of slicesOf(wanted)) {
    const ownerNos = slice.map(({ owner }) => wanted[owner]?.ownerNo)
    const names = texts(slice.map(({ name }) => name))
    for (const row of await queries.all(rows, sql, { ownerNos, names })) {
      const { owner, name } = slice[row.position - 1] as NameOfOwner
      found[owner]?.set(name, toRef(row, name))
    }
  }
  return found
}

type NameOfOwner = { owner: number; name: string }

/** A million names at once would take up hundreds of megabytes on their way. */
const namesAtOnce = 20_000

/** At least one: what is sent with the first is sent at once. */
function* slicesOf(wanted: Wanted): Generator<NameOfOwner[]> {
  let slice: NameOfOwner[] = []
  for (const [owner, { names }] of wanted.entries()) {
    for (const name of names) {
      slice.push({ owner, name })
      if (slice.length < namesAtOnce) continue
      yield slice
      slice = []
    }
  }
  if (slice.length > 0) yield slice
}

/** What a trigger is about to make, or why it makes nothing. */
export function judge(
  trigger: Trigger,
  names: Names,
  full = noDevices,
  hasWindow: HasWindow = () => false,
): Planned | Refusal {
  const known = names.get(trigger.ownerNo)
  const job = jobOf(trigger, known?.jobs.get(trigger.jobName))
  if (job === undefined) return { kind: 'unknown-job' }
  const devices = findDevices(trigger, (deviceId) => known?.devices.get(deviceId))
  if ('kind' in devices) return devices
  const over = refuseOverQuota(trigger, devices, ({ deviceNo }) => full.has(deviceNo))
  const refusal = over ?? refuseUnplanned(trigger, job) ?? refuseUnknownWindow(trigger, hasWindow)
  return refusal ?? { trigger, job, devices }
}

/** Those that make something are given ids in the order of the list. */
export function launchGroup(
  judged: (Planned | Refusal | EarlierCall)[],
  { runId, jobExecutionId }: FirstIds,
): Entry[] {
  let nextRunId = runId
  let firstExecutionId = jobExecutionId
  return judged.map((each) => {
    if ('kind' in each) return each
    const { trigger, job, devices } = each
    const run = newRun(trigger, job, { runId: nextRunId++, firstExecutionId }, devices.length)
    firstExecutionId += devices.length
    return { trigger, job, run, devices }
  })
}

/** How many ids they need. */
export function countIds(judged: (Planned | Refusal | EarlierCall)[]): { runs: number; executions: number } {
  const planned = judged.filter((each): each is Planned => !('kind' in each))
  return { runs: planned.length, executions: planned.reduce((sum, { devices }) => sum + devices.length, 0) }
}
