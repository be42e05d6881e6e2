// Measures what purging old runs costs: how long a batch takes (the embedded store's writer is busy for that long), how long
// triggers wait meanwhile, and whether the database stops growing under a steady load. The argument `postgres` selects
// PostgreSQL, where executions stay until their partition is dropped.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, execute, startPostgres } from '@jobcast/testkit/postgres-server'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import type { Trigger } from '../server/src/domain/trigger/trigger.ts'
import { openPostgresStore } from '../server/src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../server/src/store/sqlite/sqlite-store.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const rounds = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 12)
const runsPerRound = 200
const devices = Array.from({ length: 100 }, (_, index) => `device-${index}`)
const actor = 'key k1'

const folder = temporaryFolder()
const postgres = process.argv.includes('postgres') ? await startPostgres() : undefined
const url = postgres && (await createDatabase(postgres.url))
const store = url
  ? await openPostgresStore({ url })
  : openSqliteStore({ folder, onLost: (error) => console.error(error) })

async function sizeOfData(): Promise<number> {
  if (url === undefined) return statSync(join(folder, 'jobcast.db')).size
  const [row] = await execute(url, 'SELECT pg_database_size(current_database())::float8 AS size')
  return row?.size as number
}

const owner = await store.createOwner({ ownerId: 'ow_1', ownerName: 'default', createdAt: 0 })
if (owner === 'name-taken') throw new Error('the folder is not empty')
const { ownerNo } = owner
const none = { expireAfterSeconds: null, timeoutSeconds: null, deadlineSeconds: null, retry: null }
await store.putJob({
  ownerNo,
  jobName: 'restart',
  content: { description: '', document: {}, ...none },
  at: 0,
})
await store.putDevices(
  devices.map((deviceId) => ({ ownerNo, deviceId, deviceName: deviceId, tags: [], at: 0 })),
)

const triggerAt = (launchedAt: number, deviceIds: string[]): Trigger => ({
  ownerNo,
  jobName: 'restart',
  deviceIds,
  launchedAt,
  clock: steadyInstant(launchedAt),
  keyId: 'k1',
  retryOf: null,
  idempotency: null,
})

/** Creates runs and ends all their executions at that instant. */
async function load(at: number): Promise<void> {
  const outcomes = await store.createExecutions(
    Array.from({ length: runsPerRound }, () => triggerAt(at, devices)),
  )
  const moment = { at, clock: steadyInstant(at), chance: 0, cancelDeadlineMs: 60_000 }
  for (const outcome of outcomes) {
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
    const { firstExecutionId } = outcome.run
    const of = devices.map((deviceId, index) => ({
      device: { ownerNo, deviceId },
      jobExecutionId: firstExecutionId + index,
      moment,
    }))
    const nothing = {
      statusDetails: { progress: '100' },
      result: undefined,
      expectedVersion: undefined,
      attempt: undefined,
      stepTimeout: undefined,
      clientToken: undefined,
      quotas: noQuotas,
    }
    for (const status of ['IN_PROGRESS', 'SUCCEEDED'] as const) {
      await store.recordReports(of.map((each) => ({ kind: 'update', ...each, status, ...nothing })))
    }
  }
}

/** Returns the times of all batches. */
async function purge(from: Store, before: number): Promise<number[]> {
  const times: number[] = []
  for (let more = true; more; ) {
    const begun = performance.now()
    more = await from.purgeRuns({ endedBefore: before, now: before, keysOlderThan: steadyInstant(before) })
    times.push(performance.now() - begun)
  }
  return times
}

const summary = (times: number[]) => {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)
  return `median ${at(0.5)} ms, p99 ${at(0.99)}, longest ${at(1)}`
}

console.log(
  `each round ${runsPerRound * devices.length} executions with two steps of history; two rounds are kept`,
)
const batches: number[] = []
const waits: number[] = []
for (let round = 1; round <= rounds; round++) {
  await load(round)
  while (await store.purgeEvents({ olderThan: round - 1, now: round - 1 }));
  let isOver = false
  const triggering = (async () => {
    while (!isOver) {
      const begun = performance.now()
      const [outcome] = await store.createExecutions([triggerAt(round, ['device-0'])])
      waits.push(performance.now() - begun)
      if (outcome?.kind !== 'created') throw new Error(outcome?.kind)
      await store.moveExecution({
        ownerNo,
        jobExecutionId: outcome.run.firstExecutionId,
        event: 'cancel',
        moment: { at: round, clock: steadyInstant(round), chance: 0, cancelDeadlineMs: 1 },
        actor,
      })
    }
  })()
  batches.push(...(await purge(store, round - 1)))
  isOver = true
  await triggering
  const mib = ((await sizeOfData()) / 1024 / 1024).toFixed(1)
  console.log(`after round ${round} the database has ${mib} MiB`)
}
console.log(`${batches.length} batches: ${summary(batches)}`)
console.log(`${waits.length} triggers of one device beside them: ${summary(waits)}`)
await store.close()
await postgres?.stop()
removeFolder(folder)
