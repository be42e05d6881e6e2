// The one hot write: a group of triggers, in one transaction, answered once it is on disk.

import { laterBy } from '../../domain/instants.ts'
import type { Store, Trigger, TriggerOutcome } from '../../domain/store.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import { runCreated } from './events.ts'
import { claimKeys } from './idempotency-keys.ts'
import type { Partitions } from './partitions.ts'
import type { Policies } from './policies.ts'
import { numbers } from './rows.ts'
import type { Transaction } from './transaction.ts'
import { type Entry, type Launch, launchGroup, readNames, toRun } from './trigger-group.ts'

const INSERT_RUNS = `
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending, expire_at,
    deadline_at, key_id, retry_of)
  SELECT run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, total, expire_at, deadline_at,
    key_id, retry_of
  FROM json_to_recordset($1::json) AS new (run_id bigint, owner_no int, job_no int, version_no int,
    launched_at bigint, first_execution_id bigint, total int, expire_at bigint, deadline_at bigint, key_id text,
    retry_of bigint)`
const INSERT_EXECUTIONS = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
  SELECT execution_id, run_id, owner_no, device_no, 'PENDING', 1, 1
  FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[]) AS new (execution_id, run_id, owner_no, device_no)`

type Recorded =
  | Exclude<TriggerOutcome, { kind: 'replayed' | 'unreadable' }>
  | { kind: 'made-before'; runId: number }

export function buildTriggerSteps(
  db: Database,
  policies: Policies,
  partitions: Partitions,
  catalogue: Catalogue,
): Pick<Store, 'createExecutions'> {
  async function record(
    transaction: Transaction,
    triggers: Trigger[],
    passOn: () => void,
  ): Promise<Recorded[]> {
    // Keys are taken in turn as well: of two calls with one key, the first one makes the run.
    if (triggers.every(({ idempotency }) => idempotency === null)) passOn()
    const total = triggers.reduce((sum, { deviceIds }) => sum + deviceIds.length, 0)
    const takeIds = () => db.takeIds(triggers.length, total)
    const [names, early] = await Promise.all([readNames(transaction, policies, triggers), takeIds()])
    // A device was renamed after they were given: its old name counts for them, and would not be the one found here.
    const isLate = names.renamedExecutionId >= early.jobExecutionId
    const firstIds = isLate ? await takeIds() : early
    const entries = launchGroup(triggers, names, firstIds)
    const recorded = await claimKeys(transaction, triggers, entries)
    passOn()
    const launches = entries.filter((entry, index): entry is Launch => {
      return 'devices' in entry && recorded[index] === undefined
    })
    if (launches.length > 0) {
      await partitions.reach(firstIds.jobExecutionId + total - 1, triggers[0]?.launchedAt)
      write(transaction, launches)
    }
    return entries.map((entry, index) => recorded[index] ?? outcomeOf(entry))
  }

  /** Never rejects: the group is on disk by now, and whoever saw it fail would write it once more. */
  async function answer(recorded: Recorded): Promise<TriggerOutcome> {
    if (recorded.kind !== 'made-before') return recorded
    try {
      return { kind: 'replayed', run: await getLaunchedRun(db.named, recorded) }
    } catch (error) {
      return { kind: 'unreadable', error }
    }
  }

  return {
    async createExecutions(triggers) {
      if (triggers.length === 0) return []
      const owners = triggers.map(({ ownerNo }) => ownerNo)
      const recorded = await catalogue.hold(owners, (transaction, passOn) =>
        record(transaction, triggers, passOn),
      )
      return Promise.all(recorded.map(answer))
    },
  }
}

function outcomeOf(entry: Entry): Recorded {
  return 'devices' in entry ? { kind: 'created', run: toRun(entry) } : entry
}

function write(transaction: Transaction, launches: Launch[]): void {
  const executionIds: number[] = []
  const runIds: number[] = []
  const ownerNos: number[] = []
  const deviceNos: number[] = []
  for (const { runId, trigger, firstExecutionId, devices } of launches) {
    devices.forEach(({ deviceNo }, index) => {
      executionIds.push(firstExecutionId + index)
      runIds.push(runId)
      ownerNos.push(trigger.ownerNo)
      deviceNos.push(deviceNo)
    })
    runCreated(transaction, { ownerNo: trigger.ownerNo, runId, at: trigger.launchedAt })
  }
  transaction.send(INSERT_RUNS, [JSON.stringify(launches.map(toRow))])
  transaction.send(INSERT_EXECUTIONS, [executionIds, runIds, ownerNos, deviceNos].map(numbers))
}

function toRow({ runId, firstExecutionId, trigger, job, policy, devices }: Launch) {
  const { expireAfterSeconds, deadlineSeconds } = policy
  const after = (seconds: number | null) => (seconds === null ? null : laterBy(seconds * 1000, trigger.clock))
  return {
    run_id: runId,
    owner_no: trigger.ownerNo,
    job_no: job.jobNo,
    version_no: job.versionNo,
    launched_at: trigger.launchedAt,
    first_execution_id: firstExecutionId,
    total: devices.length,
    expire_at: after(expireAfterSeconds),
    deadline_at: after(deadlineSeconds),
    key_id: trigger.keyId,
    retry_of: trigger.retryOf,
  }
}
