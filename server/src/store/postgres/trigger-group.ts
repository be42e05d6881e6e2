// Prepares a group of triggers for its transaction: replaces names by numbers, and assigns ids.

import {
  type EarlierCall,
  findDevices,
  jobOf,
  type NewRun,
  namedDevices,
  newRun,
  type Refusal,
  type RunDevices,
  refuseOverQuota,
  refuseUnknownWindow,
  refuseUnplanned,
  windowNamed,
} from '../../domain/trigger/launch-run.ts'
import type { LargeTrigger, RunJob, Trigger } from '../../domain/trigger/trigger.ts'
import type { Queries, Writes } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { device, offerWindow } from '../schema/tables.ts'
import type { Names } from './directory.ts'
import { numbersOf } from './listed-devices.ts'
import type { OldestRuns } from './oldest-runs.ts'
import { texts } from './rows.ts'
import type { FirstIds } from './transaction.ts'

// Checks the last allowed execution of a device: most devices have only a few entries in the index.
const FULL_DEVICE = rows({ deviceNo: device.fields.deviceNo })
const FULL = `
  SELECT wanted.device_no AS "deviceNo" FROM unnest(CAST(:deviceNos AS int[])) AS wanted (device_no)
  WHERE EXISTS (
    SELECT FROM execution
    WHERE execution.device_no = wanted.device_no AND state <= 'CANCELING' OFFSET CAST(:skipped AS bigint) LIMIT 1)`

const FULL_ID = select(device.pick('deviceId'))
const FULL_IDS = `
  SELECT ${FULL_ID} FROM (${FULL} LIMIT ${namedDevices}) AS found JOIN device ON device.device_no = found."deviceNo"` as const

const MOST = rows({ most: number(), lastRunId: number() })
const MOST_OF_DEVICE = `
  SELECT last_id.run_id + 1 - coalesce(
    (SELECT run.run_id FROM run WHERE owner_no = :ownerNo AND NOT ended ORDER BY run.run_id LIMIT 1),
    last_id.run_id + 1) AS most, last_id.run_id AS "lastRunId"
  FROM last_id`

type Planned = { trigger: Trigger; job: RunJob; devices: RunDevices }
export type Launch = Planned & { run: NewRun }
export type Entry = Launch | Refusal | EarlierCall

const noDevices: ReadonlySet<number> = new Set()
const devicesAtOnce = 20_000

const WINDOW = rows(offerWindow.pick('ownerNo', 'windowName'))
const WINDOWS = `
  SELECT owner_no AS "ownerNo", window_name AS "windowName"
  FROM unnest(CAST(:ownerNos AS int[]), CAST(:names AS text[])) AS wanted (owner_no, window_name)
    JOIN offer_window USING (owner_no, window_name)`

type HasWindow = (ownerNo: number, windowName: string) => boolean

/** Reads the windows in triggers. `lock`: for callers that do not hold the catalogue, so that the windows exist until the commit. */
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

/** The devices of a trigger, if all of them exist. */
export type Found = RunDevices | Refusal

/** `names` must contain all names of the trigger. */
export function findNamed(trigger: Trigger, names: Names): Found {
  const known = names.get(trigger.ownerNo)?.devices
  return findDevices(trigger, (deviceId) => known?.get(deviceId))
}

/** `found`: for each trigger. Returns devices at the limit of unfinished executions. Most triggers have none that could be. */
export async function readFull(
  queries: Writes,
  triggers: Trigger[],
  found: (Found | undefined)[],
  oldestRuns: OldestRuns,
): Promise<ReadonlySet<number>> {
  const foundOf = new Map(triggers.map((trigger, index) => [trigger, found[index]]))
  const full = new Set<number>()
  for (const [ownerNo, own] of Map.groupBy(triggers, ({ ownerNo }) => ownerNo)) {
    const limited = own.filter(({ quota }) => quota !== undefined && quota.perDevice > 0)
    const perDevice = limited[0]?.quota?.perDevice
    if (perDevice === undefined || !(await mayBeFull(queries, ownerNo, perDevice, oldestRuns))) continue
    for (const deviceNos of slicesOf(limited.map((trigger) => foundOf.get(trigger)))) {
      const rows = await queries.all(FULL_DEVICE, FULL, { deviceNos, skipped: perDevice - 1 })
      for (const { deviceNo } of rows) full.add(deviceNo)
    }
  }
  return full
}

/** The numbers of all found devices. */
function* slicesOf(found: (Found | undefined)[]): Generator<number[]> {
  let slice = new Set<number>()
  for (const devices of found) {
    if (devices === undefined || 'kind' in devices) continue
    for (const deviceNo of numbersOf(devices)) {
      slice.add(deviceNo)
      if (slice.size < devicesAtOnce) continue
      yield [...slice]
      slice = new Set()
    }
  }
  if (slice.size > 0) yield [...slice]
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

/** For a large run: some of the devices at the limit. */
export async function findFull(
  queries: Writes,
  { ownerNo, quota, deviceNos }: LargeTrigger,
  oldestRuns: OldestRuns,
): Promise<string[]> {
  const perDevice = quota?.perDevice ?? 0
  if (perDevice === 0 || !(await mayBeFull(queries, ownerNo, perDevice, oldestRuns))) return []
  const full: string[] = []
  for (let start = 0; start < deviceNos.length && full.length < namedDevices; start += devicesAtOnce) {
    const batch = Array.from(deviceNos.subarray(start, start + devicesAtOnce))
    const found = await queries.all(FULL_ID, FULL_IDS, { deviceNos: batch, skipped: perDevice - 1 })
    full.push(...found.map(({ deviceId }) => deviceId))
  }
  return full.slice(0, namedDevices)
}

/** The run that a trigger will create, or why it creates none. */
export function judge(
  trigger: Trigger,
  names: Names,
  devices: Found,
  full = noDevices,
  hasWindow: HasWindow = () => false,
): Planned | Refusal {
  const job = jobOf(trigger, names.get(trigger.ownerNo)?.jobs.get(trigger.jobName))
  if (job === undefined) return { kind: 'unknown-job' }
  if ('kind' in devices) return devices
  const over = refuseOverQuota(trigger, full.size === 0 ? [] : [...devices], ({ deviceNo }) =>
    full.has(deviceNo),
  )
  const refusal = over ?? refuseUnplanned(trigger, job) ?? refuseUnknownWindow(trigger, hasWindow)
  return refusal ?? { trigger, job, devices }
}

/** Assigns ids to triggers that create a run, in the order of the list. */
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

/** The number of ids that they need. */
export function countIds(judged: (Planned | Refusal | EarlierCall)[]): { runs: number; executions: number } {
  const planned = judged.filter((each): each is Planned => !('kind' in each))
  return { runs: planned.length, executions: planned.reduce((sum, { devices }) => sum + devices.length, 0) }
}
