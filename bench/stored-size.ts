// npm run bench:size: the size on disk of a device and an execution, in both stores. Sizes do not depend on the load.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import type { DeviceReport } from '../server/src/domain/execution/device-report.ts'
import type { LaunchedRun } from '../server/src/domain/trigger/launched-run.ts'
import { openPostgresStore } from '../server/src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../server/src/store/sqlite/sqlite-store.ts'
import { fleet, jobName } from './fleet.ts'
import { startPostgres } from './peers/postgres.ts'
import { execute } from './postgres/databases.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { formatRate, formatTable } from './table.ts'

const runs = 20
const perWrite = 1000
const moment = { at: 1, clock: steadyInstant(1), chance: 0, cancelDeadlineMs: 0 }

async function sizes(store: Store, size: () => Promise<number>): Promise<string[]> {
  const owner = await store.createOwner({ ownerId: 'ow', ownerName: 'bench', createdAt: 1 })
  if (owner === 'name-taken') throw new Error('the store is not empty')
  const { ownerNo } = owner
  const content = { description: '', document: {}, timeoutSeconds: null, deadlineSeconds: null, retry: null }
  await store.putJob({ ownerNo, jobName, content: { ...content, expireAfterSeconds: null }, at: 1 })
  const empty = await size()
  for (const part of parts(fleet)) {
    await store.putDevices(part.map((device) => ({ ownerNo, ...device, tags: ['shop'], at: 1 })))
  }
  const withDevices = await size()
  const launched: LaunchedRun[] = []
  for (let run = 0; run < runs; run++) launched.push(await launch(store, ownerNo))
  const waiting = await size()
  for (const status of ['IN_PROGRESS', 'SUCCEEDED'] as const) {
    for (const run of launched) await reportAll(store, ownerNo, run, status)
  }
  const ended = await size()
  await store.close()
  const executions = runs * fleet.length
  return [
    (withDevices - empty) / fleet.length,
    (waiting - withDevices) / executions,
    (ended - withDevices) / executions,
  ].map(formatRate)
}

async function launch(store: Store, ownerNo: number): Promise<LaunchedRun> {
  const deviceIds = fleet.map(({ deviceId }) => deviceId)
  const at = { launchedAt: 1, clock: steadyInstant(1) }
  const rest = { keyId: 'key', retryOf: null, idempotency: null }
  const [outcome] = await store.createExecutions([{ ownerNo, jobName, deviceIds, ...at, ...rest }])
  if (outcome?.kind !== 'created') throw new Error(`the trigger was answered ${outcome?.kind}`)
  return outcome.run
}

async function reportAll(
  store: Store,
  ownerNo: number,
  { devices, firstExecutionId }: LaunchedRun,
  status: 'IN_PROGRESS' | 'SUCCEEDED',
): Promise<void> {
  const reports = devices.map(({ deviceId }, index): DeviceReport => {
    return {
      kind: 'update',
      device: { ownerNo, deviceId },
      jobExecutionId: firstExecutionId + index,
      status,
      moment,
      statusDetails: undefined,
      result: undefined,
      expectedVersion: undefined,
      attempt: undefined,
      stepTimeout: undefined,
      clientToken: undefined,
      quotas: noQuotas,
    }
  })
  for (const part of parts(reports)) await store.recordReports(part)
}

function parts<T>(list: readonly T[]): T[][] {
  const count = Math.ceil(list.length / perWrite)
  return Array.from({ length: count }, (_, index) => list.slice(index * perWrite, (index + 1) * perWrite))
}

async function onSqlite(): Promise<string[]> {
  const folder = temporaryFolder()
  const fail = (error: Error) => {
    throw error
  }
  const store = openSqliteStore({ folder, onLost: fail })
  const measure = async () => {
    const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true })
    const row = db
      .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
      .get()
    db.close()
    return Number(row?.bytes)
  }
  const found = await sizes(store, measure)
  removeFolder(folder)
  return found
}

async function onPostgres(): Promise<string[]> {
  const postgres = await startPostgres()
  const store = await openPostgresStore({ url: postgres.url })
  const measure = async () => {
    await execute(postgres.url, 'VACUUM')
    const { rows } = await execute(postgres.url, 'SELECT pg_database_size(current_database()) AS bytes')
    return Number(rows[0].bytes)
  }
  const found = await sizes(store, measure)
  await postgres.end()
  return found
}

const head = ['bytes', 'a device', 'an execution that waits', 'one that has started and succeeded']
console.log(
  formatTable(head, [
    ['SQLite', ...(await onSqlite())],
    ['PostgreSQL', ...(await onPostgres())],
  ]),
)
process.exit()
