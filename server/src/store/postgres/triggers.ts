// The one hot write: a group of triggers, in one transaction, answered once it is on disk.

import { toLaunchedRun } from '../../domain/launch-run.ts'
import type { StoredRollout } from '../../domain/ports/rollouts.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Trigger, TriggerOutcome } from '../../domain/ports/triggers.ts'
import { eventsAtBegin } from '../../domain/rollout-progress.ts'
import { insertInto } from '../queries.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import { INSERT_ROLLOUT, toRolloutRow } from '../tables/rollouts.ts'
import { newRunFields } from '../tables/runs.ts'
import type { Catalogue } from './catalogue.ts'
import type { Database } from './database.ts'
import { isMissingPartition } from './failures.ts'
import { claimKeys, findEarlierCalls } from './idempotency-keys.ts'
import type { Partitions } from './partitions.ts'
import type { Transaction } from './transaction.ts'
import { type Entry, judge, type Launch, launchGroup, readNames } from './trigger-group.ts'

const INSERT_RUNS = insertInto(newRunFields)
const INSERT_EXECUTIONS = `
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
  SELECT execution_id, run_id, owner_no, device_no, 'PENDING', 1, 1
  FROM unnest(CAST(:executionIds AS bigint[]), CAST(:runIds AS bigint[]), CAST(:ownerNos AS int[]),
    CAST(:deviceNos AS int[])) AS new (execution_id, run_id, owner_no, device_no)`

type Recorded =
  | Exclude<TriggerOutcome, { kind: 'replayed' | 'unreadable' }>
  | { kind: 'made-before'; runId: number }

export function buildTriggerSteps(
  db: Database,
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
    const [names, earlier] = await Promise.all([
      readNames(transaction.named, triggers),
      findEarlierCalls(transaction.named, triggers),
    ])
    const judged = triggers.map((trigger, index) => earlier[index] ?? judge(trigger, names))
    // Only what is made uses up ids. They are given behind the lock of the owner, so they are higher than those of any
    // device's older name (renamed_execution_id).
    const total = judged.reduce((sum, each) => sum + ('kind' in each ? 0 : each.devices.length), 0)
    const runs = judged.filter((each) => !('kind' in each)).length
    const firstIds = runs > 0 ? await db.takeIds(runs, total) : { runId: 0, jobExecutionId: 0 }
    const entries = launchGroup(judged, firstIds)
    const recorded = await claimKeys(transaction.named, triggers, entries)
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
    async createExecutions(triggers, options) {
      if (triggers.length === 0) return []
      const owners = triggers.map(({ ownerNo }) => ownerNo)
      const write = () =>
        catalogue.hold(owners, (transaction, passOn) => record(transaction, triggers, passOn), options)
      const recorded = await write().catch((error: unknown) => {
        if (!isMissingPartition(error)) throw error
        // The database is another one than the one in which it was made: see `isOtherHistory`.
        partitions.forget()
        return write()
      })
      return Promise.all(recorded.map(answer))
    },
  }
}

function outcomeOf(entry: Entry): Recorded {
  if ('kind' in entry) return entry
  return { kind: 'created', run: toLaunchedRun(entry.run, entry.trigger, entry.devices) }
}

function write(transaction: Transaction, launches: Launch[]): void {
  const executionIds: number[] = []
  const runIds: number[] = []
  const ownerNos: number[] = []
  const deviceNos: number[] = []
  for (const { run, devices } of launches) {
    const { runId, ownerNo, firstExecutionId, launchedAt } = run
    devices.forEach(({ deviceNo }, index) => {
      executionIds.push(firstExecutionId + index)
      runIds.push(runId)
      ownerNos.push(ownerNo)
      deviceNos.push(deviceNo)
    })
    transaction.events.push({ type: 'run.created', ownerNo, runId, at: launchedAt })
    if (run.rollout) writeRollout(transaction, run.rollout, launchedAt)
  }
  transaction.named.sendRows(
    INSERT_RUNS,
    launches.map(({ run }) => ({ ...run, PENDING: run.total })),
  )
  transaction.named.send(INSERT_EXECUTIONS, { executionIds, runIds, ownerNos, deviceNos })
}

function writeRollout({ named }: Transaction, rollout: StoredRollout, at: number): void {
  const { ownerNo, runId } = rollout
  named.sendRows(INSERT_ROLLOUT, [toRolloutRow(rollout)])
  for (const { type, details } of eventsAtBegin(rollout))
    named.runChanged(type, { ownerNo, runId, at, details })
}
