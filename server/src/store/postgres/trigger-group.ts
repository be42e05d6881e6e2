// A group of triggers on its way to its transaction: names become numbers, and ids are given.

import {
  type EarlierCall,
  findDevices,
  type NewRun,
  newRun,
  type Refusal,
  type RunDevice,
  type RunJob,
  refuseOverQuota,
  refuseUnplanned,
} from '../../domain/launch-run.ts'
import type { Trigger } from '../../domain/ports/triggers.ts'
import type { JobPolicy } from '../policies.ts'
import type { Writes } from '../queries.ts'
import { computed, number, rows, type Selection, select } from '../schema/column.ts'
import { device, job } from '../schema/tables.ts'
import type { FirstIds } from './database.ts'

const position = computed('position', number())
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

export type Launch = { trigger: Trigger; run: NewRun; devices: RunDevice[] }
export type Entry = Launch | Refusal | EarlierCall
type Planned = { trigger: Trigger; job: RunJob; devices: RunDevice[] }

type ByOwner<Ref> = ReadonlyMap<number, ReadonlyMap<string, Ref>>
type NamesFound = {
  jobs: ByOwner<{ jobNo: number; versionNo: number }>
  devices: ByOwner<RunDevice>
  policyOf: (jobVersion: number) => JobPolicy
  /** Devices that may not have more, by their numbers. */
  full: ReadonlySet<number>
}

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
export async function readNames(queries: Writes, triggers: Trigger[]): Promise<NamesFound> {
  const owners = [...Map.groupBy(triggers, ({ ownerNo }) => ownerNo)]
  const wanted = (namesOf: (trigger: Trigger) => string[]): Wanted =>
    owners.map(([ownerNo, own]) => ({ ownerNo, names: new Set(own.flatMap(namesOf)) }))
  const toDevice = ({ deviceNo, deviceName }: ReturnType<typeof DEVICE.read>, deviceId: string) => {
    return { deviceNo, deviceId, deviceName }
  }
  const [jobs, devices] = await Promise.all([
    find(
      queries,
      JOB,
      JOBS,
      wanted(({ jobName }) => [jobName]),
      (job) => job,
    ),
    find(
      queries,
      DEVICE,
      DEVICES,
      wanted(({ deviceIds }) => deviceIds),
      toDevice,
    ),
  ])
  const versions = [...jobs.values()].flatMap((own) => [...own.values()].map(({ versionNo }) => versionNo))
  const [policyOf, full] = await Promise.all([
    queries.policies.read(queries, versions),
    readFull(queries, triggers, devices),
  ])
  return { jobs, devices, policyOf, full }
}

/** Most triggers name no device that could have too many. */
async function readFull(
  queries: Writes,
  triggers: Trigger[],
  devices: ByOwner<RunDevice>,
): Promise<ReadonlySet<number>> {
  const full = new Set<number>()
  for (const { ownerNo, deviceIds, quota } of triggers) {
    if (quota === undefined || quota.perDevice === 0) continue
    const known = devices.get(ownerNo)
    const deviceNos = deviceIds.flatMap((deviceId) => known?.get(deviceId)?.deviceNo ?? [])
    const found = await queries.all(FULL_DEVICE, FULL, { deviceNos, skipped: quota.perDevice - 1 })
    for (const { deviceNo } of found) full.add(deviceNo)
  }
  return full
}

type Wanted = { ownerNo: number; names: Set<string> }[]

/** Those that are there of all that the group names. */
async function find<Of extends { position: number }, Ref>(
  queries: Writes,
  rows: Selection<Of>,
  sql: string,
  wanted: Wanted,
  toRef: (row: Of, name: string) => Ref,
): Promise<ByOwner<Ref>> {
  const found = new Map(wanted.map(({ ownerNo }) => [ownerNo, new Map<string, Ref>()]))
  const ownerNos = wanted.flatMap(({ ownerNo, names }) => Array.from(names, () => ownerNo))
  const names = wanted.flatMap(({ names }) => [...names])
  for (const row of await queries.all(rows, sql, { ownerNos, names })) {
    const [ownerNo = 0, name = ''] = [ownerNos[row.position - 1], names[row.position - 1]]
    found.get(ownerNo)?.set(name, toRef(row, name))
  }
  return found
}

/** What a trigger is about to make, or why it makes nothing. */
export function judge(trigger: Trigger, names: NamesFound): Planned | Refusal {
  const { ownerNo, jobName } = trigger
  const job = names.jobs.get(ownerNo)?.get(jobName)
  if (job === undefined) return { kind: 'unknown-job' }
  const known = names.devices.get(ownerNo)
  const devices = findDevices(trigger, (deviceId) => known?.get(deviceId))
  if ('kind' in devices) return devices
  const over = refuseOverQuota(trigger, devices, ({ deviceNo }) => names.full.has(deviceNo))
  if (over) return over
  const runJob = { ...names.policyOf(job.versionNo), ...job }
  return refuseUnplanned(trigger, runJob) ?? { trigger, job: runJob, devices }
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
    const run = newRun(trigger, job, { runId: nextRunId++, firstExecutionId })
    firstExecutionId += devices.length
    return { trigger, run, devices }
  })
}
