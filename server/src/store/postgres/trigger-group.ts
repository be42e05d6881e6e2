// A group of triggers on its way to its transaction: names become numbers, and ids are given.

import type { LaunchedRun, Trigger, TriggerOutcome } from '../../domain/store.ts'
import type { FirstIds } from './database.ts'
import type { JobPolicy, Policies } from './policies.ts'
import type { Queries } from './rows.ts'

const JOBS = `
  SELECT place, job_no, version_no
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS wanted (owner_no, job_name, place)
    JOIN job USING (owner_no, job_name)
  WHERE deleted_at IS NULL`
const DEVICES = `
  SELECT place, device_no, device_name
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS wanted (owner_no, device_id, place)
    JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL`

const RENAMED = `
  SELECT max(renamed_execution_id) AS id FROM unnest($1::int[]) AS wanted (owner_no) JOIN owner USING (owner_no)`

/** How many unknown devices an answer names. */
const namedDevices = 100

type JobRef = { jobNo: number; versionNo: number }
type DeviceRef = { deviceNo: number; deviceId: string; deviceName: string }
type Refusal = Extract<TriggerOutcome, { kind: 'unknown-job' | 'unknown-device' }>

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

  async read(queries: Queries, sql: string, toRef: (row: Record<string, unknown>, name: string) => Ref) {
    const ownerNos: number[] = []
    const names: string[] = []
    for (const [ownerNo, ofOwner] of this.#owners) {
      for (const name of ofOwner.keys()) {
        ownerNos.push(ownerNo)
        names.push(name)
      }
    }
    for (const row of await queries.query(sql, [ownerNos, names])) {
      const index = (row.place as number) - 1
      const name = names[index] as string
      this.#owners.get(ownerNos[index] as number)?.set(name, toRef(row, name))
    }
  }
}

type KnownNames = {
  jobs: Names<JobRef>
  devices: Names<DeviceRef>
  policyOf: (jobVersion: number) => JobPolicy
  /** The last id that was given when one of the owners' devices was renamed. */
  renamedExecutionId: number
}

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
export async function readNames(
  transaction: Queries,
  policies: Policies,
  triggers: Trigger[],
): Promise<KnownNames> {
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
    jobs.read(transaction, JOBS, ({ job_no, version_no }) => {
      versions.push(version_no as number)
      return { jobNo: job_no as number, versionNo: version_no as number }
    }),
    devices.read(transaction, DEVICES, ({ device_no, device_name }, deviceId) => {
      return { deviceNo: device_no as number, deviceId, deviceName: device_name as string }
    }),
  ])
  const policyOf = await policies.read(transaction, versions)
  return { jobs, devices, policyOf, renamedExecutionId: (renamed?.id as number | null) ?? 0 }
}

/** All are given ids in the order of the list; those of what is refused, or was made before, stay unused. */
export function launchGroup(
  triggers: Trigger[],
  names: KnownNames,
  { runId, jobExecutionId }: FirstIds,
): Entry[] {
  let firstExecutionId = jobExecutionId
  return triggers.map((trigger, index) => {
    const entry = launch(trigger, names, runId + index, firstExecutionId)
    firstExecutionId += trigger.deviceIds.length
    return entry
  })
}

function launch(trigger: Trigger, names: KnownNames, runId: number, firstExecutionId: number): Entry {
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
  return { trigger, runId, firstExecutionId, job, policy: names.policyOf(job.versionNo), devices }
}

export function toRun({ trigger, runId, firstExecutionId, job, devices }: Launch): LaunchedRun {
  const { jobName, launchedAt } = trigger
  return { runId, jobName, launchedAt, firstExecutionId, jobVersion: job.versionNo, devices }
}
