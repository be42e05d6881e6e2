// A group of triggers on its way to its transaction: names become numbers, and ids are given.

import { findDevices, type NewRun, newRun, type Refusal, type RunDevice } from '../../domain/launch-run.ts'
import type { Trigger } from '../../domain/ports/triggers.ts'
import type { JobPolicy } from '../policies.ts'
import type { Writes } from '../queries.ts'
import { computed, number, orNull, rows, type Selection, select } from '../schema/column.ts'
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

const RENAMED = `
  SELECT max(renamed_execution_id) AS id
  FROM unnest(CAST(:ownerNos AS int[])) AS wanted (owner_no) JOIN owner USING (owner_no)`
const LAST_RENAMED = rows({ id: orNull(number()) })

export type Launch = { trigger: Trigger; run: NewRun; devices: RunDevice[] }
export type Entry = Launch | Refusal

type ByOwner<Ref> = ReadonlyMap<number, ReadonlyMap<string, Ref>>
type NamesFound = {
  jobs: ByOwner<{ jobNo: number; versionNo: number }>
  devices: ByOwner<RunDevice>
  policyOf: (jobVersion: number) => JobPolicy
  /** The last id that was given when one of the owners' devices was renamed. */
  renamedExecutionId: number
}

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
export async function readNames(queries: Writes, triggers: Trigger[]): Promise<NamesFound> {
  const owners = [...Map.groupBy(triggers, ({ ownerNo }) => ownerNo)]
  const wanted = (namesOf: (trigger: Trigger) => string[]): Wanted =>
    owners.map(([ownerNo, own]) => ({ ownerNo, names: new Set(own.flatMap(namesOf)) }))
  const toDevice = ({ deviceNo, deviceName }: ReturnType<typeof DEVICE.read>, deviceId: string) => {
    return { deviceNo, deviceId, deviceName }
  }
  const [renamed, jobs, devices] = await Promise.all([
    queries.one(LAST_RENAMED, RENAMED, { ownerNos: owners.map(([ownerNo]) => ownerNo) }),
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
  const policyOf = await queries.policies.read(queries, versions)
  return { jobs, devices, policyOf, renamedExecutionId: renamed.id ?? 0 }
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
  const { ownerNo, jobName } = trigger
  const job = names.jobs.get(ownerNo)?.get(jobName)
  if (job === undefined) return { kind: 'unknown-job' }
  const known = names.devices.get(ownerNo)
  const devices = findDevices(trigger, (deviceId) => known?.get(deviceId))
  if ('kind' in devices) return devices
  const run = newRun(trigger, { ...names.policyOf(job.versionNo), ...job }, { runId, firstExecutionId })
  return { trigger, run, devices }
}
