// A group of triggers on its way to its transaction: names become numbers, and ids are given.

import {
  type EarlierCall,
  findDevices,
  type NewRun,
  newRun,
  type Refusal,
  type RunDevice,
  type RunJob,
} from '../../domain/launch-run.ts'
import type { Trigger } from '../../domain/ports/triggers.ts'
import type { JobPolicy } from '../policies.ts'
import { computed, number, type Selection, select } from '../schema/column.ts'
import { device, job } from '../schema/tables.ts'
import type { FirstIds } from './database.ts'
import type { Transaction } from './transaction.ts'

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

type JobRef = { jobNo: number; versionNo: number }

export type Launch = { trigger: Trigger; run: NewRun; devices: RunDevice[] }
export type Entry = Launch | Refusal | EarlierCall
type Planned = { trigger: Trigger; job: RunJob; devices: RunDevice[] }

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
    { named }: Transaction,
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
    for (const row of await named.all(rows, sql, { ownerNos, names })) {
      const [ownerNo, name] = [ownerNos[row.position - 1], names[row.position - 1]]
      if (ownerNo === undefined || name === undefined) continue
      this.#owners.get(ownerNo)?.set(name, toRef(row, name))
    }
  }
}

type NamesFound = {
  jobs: Names<JobRef>
  devices: Names<RunDevice>
  policyOf: (jobVersion: number) => JobPolicy
}

/** Only for who holds the catalogues: what is found stays until the end of the transaction. */
export async function readNames(transaction: Transaction, triggers: Trigger[]): Promise<NamesFound> {
  const jobs = new Names<JobRef>()
  const devices = new Names<RunDevice>()
  for (const { ownerNo, jobName, deviceIds } of triggers) {
    jobs.want(ownerNo, jobName)
    for (const deviceId of deviceIds) devices.want(ownerNo, deviceId)
  }
  const versions: number[] = []
  const { named } = transaction
  await Promise.all([
    jobs.read(transaction, JOB, JOBS, ({ jobNo, versionNo }) => {
      versions.push(versionNo)
      return { jobNo, versionNo }
    }),
    devices.read(transaction, DEVICE, DEVICES, ({ deviceNo, deviceName }, deviceId) => {
      return { deviceNo, deviceId, deviceName }
    }),
  ])
  const policyOf = await named.policies.read(named, versions)
  return { jobs, devices, policyOf }
}

/** What a trigger is about to make, or why it makes nothing. */
export function judge(trigger: Trigger, names: NamesFound): Planned | Refusal {
  const { ownerNo, jobName } = trigger
  const job = names.jobs.of(ownerNo).get(jobName)
  if (job === undefined) return { kind: 'unknown-job' }
  const known = names.devices.of(ownerNo)
  const devices = findDevices(trigger, (deviceId) => known.get(deviceId))
  if ('kind' in devices) return devices
  return { trigger, job: { ...names.policyOf(job.versionNo), ...job }, devices }
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
