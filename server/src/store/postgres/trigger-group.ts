// A group of triggers on its way to its transaction: names become numbers, and ids are given.

import type { LaunchedRun, Trigger, TriggerOutcome } from '../../domain/ports/triggers.ts'
import { computed, number, orNull, rows, type Selection, select } from '../schema/column.ts'
import { device, job } from '../schema/tables.ts'
import type { FirstIds } from './database.ts'
import type { JobPolicy, Policies } from './policies.ts'
import { numbers, type Queries } from './rows.ts'

const { jobNo, versionNo } = job.fields
const { deviceNo, deviceName } = device.fields
const position = computed('position', number())
const JOB = select({ position, jobNo, versionNo })
const JOBS = `
  SELECT ${JOB}
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS wanted (owner_no, job_name, position)
    JOIN job USING (owner_no, job_name)
  WHERE deleted_at IS NULL`
const DEVICE = select({ position, deviceNo, deviceName })
const DEVICES = `
  SELECT ${DEVICE}
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS wanted (owner_no, device_id, position)
    JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL`

// The last of so many that a device may have: of most devices the index has a few entries.
const FULL_DEVICE = rows({ deviceNo: device.fields.deviceNo })
const FULL = `
  SELECT wanted.device_no AS "deviceNo" FROM unnest($1::int[]) AS wanted (device_no)
  WHERE EXISTS (
    SELECT FROM execution WHERE execution.device_no = wanted.device_no AND state <= 'CANCELING' OFFSET $2 LIMIT 1)`

const RENAMED = `
  SELECT max(renamed_execution_id) AS id FROM unnest($1::int[]) AS wanted (owner_no) JOIN owner USING (owner_no)`
const LAST_RENAMED = rows({ id: orNull(number()) })

/** How many devices a refusal names. */
const namedDevices = 100

type JobRef = { jobNo: number; versionNo: number }
type DeviceRef = { deviceNo: number; deviceId: string; deviceName: string }
type Refusal = Extract<
  TriggerOutcome,
  { kind: 'unknown-job' | 'unknown-device' | 'over-quota' | 'device-over-quota' }
>

export type Launch = {
  trigger: Trigger
  runId: number
  firstExecutionId: number
  job: JobRef
  policy: JobPolicy
  devices: DeviceRef[]
}
export type Entry = Launch | Refusal

/** What the group names, by owner and name. */
class Names<Ref> {
  readonly #owners = new Map<number, Map<string, Ref | undefined>>()

  want(ownerNo: number, name: string): void {
    const names = this.#owners.get(ownerNo)
    if (names) names.set(name, undefined)
    else this.#owners.set(ownerNo, new Map([[name, undefined]]))
  }

  of(ownerNo: number): ReadonlyMap<string, Ref | undefined> {
    return this.#owners.get(ownerNo) ?? new Map()
  }

  async read<Of extends { position: number }>(
    queries: Queries,
    rows: Selection<Of>,
    sql: string,
    toRef: (row: Of, name: string) => Ref,
  ) {
    const ownerNos: number[] = []
    const names: string[] = []
    for (const [ownerNo, ofOwner] of this.#owners) {
      for (const name of ofOwner.keys()) {
        ownerNos.push(ownerNo)
        names.push(name)
      }
    }
    for (const row of (await queries.query(sql, [ownerNos, names])).map(rows.read)) {
      const [ownerNo, name] = [ownerNos[row.position - 1], names[row.position - 1]]
      if (ownerNo === undefined || name === undefined) continue
      this.#owners.get(ownerNo)?.set(name, toRef(row, name))
    }
  }
}

type NamesFound = {
  jobs: Names<JobRef>
  devices: Names<DeviceRef>
  policyOf: (jobVersion: number) => JobPolicy
  /** Devices that may not have more, by their numbers. */
  full: ReadonlySet<number>
  /** The last id that was given when one of the owners' devices was renamed. */
  renamedExecutionId: number
}

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
export async function readNames(
  transaction: Queries,
  policies: Policies,
  triggers: Trigger[],
): Promise<NamesFound> {
  const jobs = new Names<JobRef>()
  const devices = new Names<DeviceRef>()
  for (const { ownerNo, jobName, deviceIds } of triggers) {
    jobs.want(ownerNo, jobName)
    for (const deviceId of deviceIds) devices.want(ownerNo, deviceId)
  }
  const versions: number[] = []
  const ownerNos = [...new Set(triggers.map(({ ownerNo }) => ownerNo))]
  const [[renamed]] = await Promise.all([
    transaction.query(RENAMED, [ownerNos]),
    jobs.read(transaction, JOB, JOBS, ({ jobNo, versionNo }) => {
      versions.push(versionNo)
      return { jobNo, versionNo }
    }),
    devices.read(transaction, DEVICE, DEVICES, ({ deviceNo, deviceName }, deviceId) => {
      return { deviceNo, deviceId, deviceName }
    }),
  ])
  const [policyOf, full] = await Promise.all([
    policies.read(transaction, versions),
    readFull(transaction, triggers, devices),
  ])
  return { jobs, devices, policyOf, full, renamedExecutionId: LAST_RENAMED.read(renamed ?? {}).id ?? 0 }
}

/** Most triggers name no device that could have too many. */
async function readFull(
  transaction: Queries,
  triggers: Trigger[],
  devices: Names<DeviceRef>,
): Promise<ReadonlySet<number>> {
  const full = new Set<number>()
  for (const { ownerNo, deviceIds, quota } of triggers) {
    if (quota === undefined || quota.perDevice === 0) continue
    const known = devices.of(ownerNo)
    const deviceNos = deviceIds.flatMap((deviceId) => known.get(deviceId)?.deviceNo ?? [])
    const found = await transaction.query(FULL, [numbers(deviceNos), quota.perDevice - 1])
    for (const { deviceNo } of found.map(FULL_DEVICE.read)) full.add(deviceNo)
  }
  return full
}

/** All are given ids in the order of the list; those of what is refused, or was made before, stay unused. */
export function launchGroup(
  triggers: Trigger[],
  names: NamesFound,
  { runId, jobExecutionId }: FirstIds,
): Entry[] {
  let firstExecutionId = jobExecutionId
  return triggers.map((trigger, index) => {
    const entry = launch(trigger, names, runId + index, firstExecutionId)
    firstExecutionId += trigger.deviceIds.length
    return entry
  })
}

function launch(trigger: Trigger, names: NamesFound, runId: number, firstExecutionId: number): Entry {
  const { ownerNo, jobName, deviceIds } = trigger
  const job = names.jobs.of(ownerNo).get(jobName)
  if (job === undefined) return { kind: 'unknown-job' }
  // One foreign device fails the whole call.
  const known = names.devices.of(ownerNo)
  const devices: DeviceRef[] = []
  for (const deviceId of deviceIds) {
    const device = known.get(deviceId)
    if (device === undefined) {
      const unknown = deviceIds.filter((each) => known.get(each) === undefined)
      return { kind: 'unknown-device', deviceIds: unknown.slice(0, namedDevices) }
    }
    devices.push(device)
  }
  if (trigger.quota?.isOver) return { kind: 'over-quota' }
  const full = names.full.size === 0 ? [] : devices.filter(({ deviceNo }) => names.full.has(deviceNo))
  if (full.length > 0) {
    return {
      kind: 'device-over-quota',
      deviceIds: full.slice(0, namedDevices).map(({ deviceId }) => deviceId),
    }
  }
  return { trigger, runId, firstExecutionId, job, policy: names.policyOf(job.versionNo), devices }
}

export function toRun({ trigger, runId, firstExecutionId, job, devices }: Launch): LaunchedRun {
  const { jobName, launchedAt } = trigger
  return { runId, jobName, launchedAt, firstExecutionId, jobVersion: job.versionNo, devices }
}
