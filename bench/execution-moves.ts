// Measures how long a store takes to move executions: device reports, a cancel of a whole run, expired timers. In
// microseconds per execution, the median of several rounds, without HTTP or MQTT: elapsed time, and the CPU time of this
// process (all of the embedded store's), which depends less on other work. The argument `postgres` selects PostgreSQL.

import { createDatabase, startPostgres } from '@jobcast/testkit/postgres-server'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import type { DeviceReport } from '../server/src/domain/execution/device-report.ts'
import { openPostgresStore } from '../server/src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../server/src/store/sqlite/sqlite-store.ts'
import { median } from './numbers.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { formatTable } from './table.ts'

const rounds = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 7)
const devices = Array.from({ length: 2000 }, (_, index) => `device-${index}`)
const reportsAtOnce = 200
const ownerNo = 1
const policies = { expireAfterSeconds: null, timeoutSeconds: null, deadlineSeconds: null, retry: null }

type Kind = Extract<DeviceReport, { kind: 'update' }>['status'] | 'start-next'

async function prepare(store: Store): Promise<void> {
  await store.createOwner({ ownerId: 'ow_1', ownerName: 'default', createdAt: 0 })
  const content = { description: '', document: {}, ...policies }
  const expiring = { ...content, expireAfterSeconds: 1 }
  await store.putJob({ ownerNo, jobName: 'restart', content, at: 0 })
  await store.putJob({ ownerNo, jobName: 'expiring', content: expiring, at: 0 })
  await store.putDevices(
    devices.map((deviceId) => ({ ownerNo, deviceId, deviceName: deviceId, tags: [], at: 0 })),
  )
}

const momentAt = (at: number) => ({ at, clock: steadyInstant(at), chance: 0, cancelDeadlineMs: 60_000 })

async function trigger(store: Store, jobName: string, at: number) {
  const more = { launchedAt: at, clock: steadyInstant(at), keyId: 'k1', retryOf: null, idempotency: null }
  const [outcome] = await store.createExecutions([{ ownerNo, jobName, deviceIds: devices, ...more }])
  if (outcome?.kind !== 'created') throw new Error(outcome?.kind)
  return outcome.run
}

/** Reports in groups, one after the other, like group commit. */
async function report(store: Store, kind: Kind, firstExecutionId: number, at: number): Promise<void> {
  const reports = devices.map((deviceId, index): DeviceReport => {
    const device = { ownerNo, deviceId }
    const common = { device, moment: momentAt(at), statusDetails: { progress: '50' }, stepTimeout: undefined }
    if (kind === 'start-next') return { kind, ...common }
    const nothing = {
      result: undefined,
      expectedVersion: undefined,
      attempt: undefined,
      clientToken: undefined,
      quotas: noQuotas,
    }
    return { kind: 'update', status: kind, jobExecutionId: firstExecutionId + index, ...common, ...nothing }
  })
  for (let from = 0; from < reports.length; from += reportsAtOnce) {
    const outcomes = await store.recordReports(reports.slice(from, from + reportsAtOnce))
    if (outcomes.some((outcome) => outcome.kind !== 'done')) throw new Error('a report was refused')
  }
}

async function cancelAll(store: Store, runId: number, at: number): Promise<void> {
  const move = { ownerNo, runId, event: 'cancel', moment: momentAt(at), actor: 'key k1' } as const
  let from: number | undefined
  do from = (await store.moveRun({ ...move, from }))?.next
  while (from !== undefined)
}

async function expireAll(store: Store, at: number): Promise<void> {
  while ((await store.fireClocks(momentAt(at))).more);
}

type Cost = { ms: number; cpuMs: number }

async function round(store: Store, at: number, note: (name: string, cost: Cost) => void): Promise<void> {
  const timed = async (name: string, work: () => Promise<void>) => {
    const begun = performance.now()
    const usage = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(usage)
    note(name, { ms: performance.now() - begun, cpuMs: (user + system) / 1000 })
  }
  const { firstExecutionId } = await trigger(store, 'restart', at)
  await timed('start-next', () => report(store, 'start-next', firstExecutionId, at))
  await timed('progress', () => report(store, 'IN_PROGRESS', firstExecutionId, at))
  await timed('success', () => report(store, 'SUCCEEDED', firstExecutionId, at))
  const { runId } = await trigger(store, 'restart', at)
  await timed('cancel of a run', () => cancelAll(store, runId, at))
  await trigger(store, 'expiring', at)
  await timed('expiry', () => expireAll(store, at + 1000))
}

const folder = temporaryFolder()
const postgres = process.argv.includes('postgres') ? await startPostgres() : undefined
const store = postgres
  ? await openPostgresStore({ url: await createDatabase(postgres.url) })
  : openSqliteStore({ folder, onLost: (error) => console.error(error) })
const costs = new Map<string, Cost[]>()
await prepare(store)
// The first round warms up.
for (let at = 0; at <= rounds; at++) {
  await round(store, at * 10_000 + 1, (name, cost) => {
    if (at > 0) costs.set(name, [...(costs.get(name) ?? []), cost])
  })
}
const perExecution = (times: number[]) => ((median(times) * 1000) / devices.length).toFixed(1)
const rows = [...costs].map(([name, all]) => [
  name,
  perExecution(all.map(({ ms }) => ms)),
  perExecution(all.map(({ cpuMs }) => cpuMs)),
])
console.log(formatTable(['move', 'µs', 'CPU µs'], rows))
await store.close()
await postgres?.stop()
removeFolder(folder)
