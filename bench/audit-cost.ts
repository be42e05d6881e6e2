// Measures what the audit entry of a trigger costs, as a part of all CPU time of a trigger: the goal is at most 3 %. The
// entry: the writes of the store with and without it, in turns. A trigger: the service and PostgreSQL under calls over HTTP,
// in the same rounds. CPU time only, because it depends little on other work on the machine. Linux only: it reads /proc.

import { parseArgs } from 'node:util'
import { startPostgres } from '@jobcast/testkit/postgres-server'
import type { EntryCost } from './audit/in-turns.ts'
import { postgresEntry } from './audit/postgres-entry.ts'
import { sqliteEntry } from './audit/sqlite-entry.ts'
import { type Service, wholeTrigger } from './audit/whole-trigger.ts'
import { startOnCopy } from './contenders.ts'
import { openLoader } from './loader.ts'
import { median } from './numbers.ts'
import { buildDatabases, execute, startNode } from './postgres/databases.ts'
import { publish } from './report.ts'
import { buildStored } from './stored.ts'
import { formatTable } from './table.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, out: { type: 'string' } },
})
const rounds = Number(values.rounds)
const turns = 6
const measureMs = 3000

type Round = { entry: number; trigger: number }
type Row = { name: string; round: () => Promise<Round> }

const loader = openLoader()
const postgres = await startPostgres()
const server = `${postgres.url}/postgres`
const databases = await buildDatabases(server)
const stored = await buildStored(0)

const service = await startOnCopy(stored)
const onSqlite: Service = { ...service, databasePids: async () => [] }
const node = await startNode(await databases.copy())
const onPostgres: Service = {
  ...node,
  async databasePids() {
    const { rows } = await execute(server, 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    return rows.map(({ pid }) => pid as number)
  },
}
const database = await databases.copy()
const rowOf = (name: string, cost: () => Promise<EntryCost>, service: Service, callers: number): Row => ({
  name,
  async round() {
    const { without, withEntry } = await cost()
    const trigger = await wholeTrigger(service, loader, callers, measureMs)
    return { entry: median(withEntry) - median(without), trigger }
  },
})
const table: Row[] = [
  rowOf('SQLite, 64 callers', () => sqliteEntry(turns), onSqlite, 64),
  rowOf('PostgreSQL, 64 callers', () => postgresEntry(database, 64, turns), onPostgres, 64),
  rowOf('PostgreSQL, 1 caller', () => postgresEntry(database, 1, turns), onPostgres, 1),
]

const measured = new Map<string, Round[]>(table.map(({ name }) => [name, []]))
for (let round = 1; round <= rounds; round++) {
  for (const { name, round: measure } of table) {
    const result = await measure()
    measured.get(name)?.push(result)
    console.error(`${name}: ${result.entry.toFixed(2)} µs of ${result.trigger.toFixed(0)} µs`)
  }
}
const lines = [...measured].map(([name, results]) => {
  const parts = results.map(({ entry, trigger }) => entry / trigger)
  const part = median(parts)
  return [
    name,
    median(results.map(({ entry }) => entry)).toFixed(1),
    median(results.map(({ trigger }) => trigger)).toFixed(0),
    `**${(part * 100).toFixed(1)} %**`,
    `${(Math.min(...parts) * 100).toFixed(1)} to ${(Math.max(...parts) * 100).toFixed(1)} %`,
  ]
})
const head = ['', 'entry: CPU µs', 'trigger: CPU µs', 'part', 'rounds']
const about =
  'The entry: writes of the store with and without the insert of the audit entry, in turns on one database. The trigger: the process of the ' +
  'service, on PostgreSQL with all server processes, for 1 device over HTTP. Sealing is not included in the entry: it happens once a second, ' +
  'beside triggers.'
publish('The audit entry of a trigger', [about, formatTable(head, lines)], {
  out: values.out,
  measureMs,
  rounds,
})
await loader.end()
await onSqlite.end()
await onPostgres.end()
await postgres.stop()
process.exit()
