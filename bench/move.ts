// Measures how fast a database is moved: from the embedded store into a file, into PostgreSQL, and back. Each execution has
// ended, with two steps of history and an event.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, startPostgres } from '@jobcast/testkit/postgres-server'
import { exportStore, importStore, type StorePlace } from '../server/src/store/open-store.ts'
import { migrateDatabase, openDatabase } from '../server/src/store/sqlite/database.ts'
import { sqliteMigrations } from '../server/src/store/sqlite/sqlite-store.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const executions = Number(process.argv[2] ?? 1_000_000)
const perRun = 100
const at = Date.UTC(2026, 10, 15)

function fill(path: string): void {
  const db = openDatabase(path)
  migrateDatabase(db, sqliteMigrations())
  const count = (to: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`
  db.exec(`
    BEGIN;
    INSERT INTO owner (owner_no, owner_id, owner_name, created_at) VALUES (1, 'ow_1', 'default', ${at});
    INSERT INTO job (job_no, owner_no, job_name, version_no, created_at, updated_at) VALUES (1, 1, 'restart', 1, ${at}, ${at});
    INSERT INTO job_version (version_no, job_no, content) VALUES (1, 1, '{"document":{}}');
    ${count(perRun)} INSERT INTO device (device_no, owner_no, device_id, device_name, tags, created_at, updated_at)
      SELECT i, 1, 'device-' || i, 'Device ' || i, '[]', ${at}, ${at} FROM n;
    ${count(executions / perRun)} INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id,
        total, pending, succeeded, ended_at, key_id)
      SELECT i, 1, 1, 1, ${at} + i, (i - 1) * ${perRun} + 1, ${perRun}, 0, ${perRun}, ${at} + i + 9, 'k1' FROM n;
    ${count(executions)} INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number,
        started_at, finished_at, updated_at, status_details)
      SELECT i, (i - 1) / ${perRun} + 1, 1, (i - 1) % ${perRun} + 1, 'SUCCEEDED', 1, 3, ${at} + i, ${at} + i, ${at} + i,
        '{"progress":"100"}' FROM n;
    ${count(executions)} INSERT INTO transition SELECT i, 2, ${at} + i, 'PENDING', 'IN_PROGRESS', 'start', 'device', 1 FROM n;
    ${count(executions)} INSERT INTO transition SELECT i, 3, ${at} + i, 'IN_PROGRESS', 'SUCCEEDED', 'succeed', 'device', 1 FROM n;
    ${count(executions)} INSERT INTO event (owner_no, event_id, at, type, run_id, execution_id, device_no, from_state, cause,
        actor, attempt, version_number)
      SELECT 1, i, ${at} + i, 'execution.succeeded', (i - 1) / ${perRun} + 1, i, (i - 1) % ${perRun} + 1, 'IN_PROGRESS',
        'succeed', 'device', 1, 3 FROM n;
    UPDATE last_id SET run_id = ${executions / perRun}, execution_id = ${executions};
    COMMIT`)
  db.close()
}

async function timed(title: string, work: () => Promise<Record<string, number>>): Promise<void> {
  const begun = performance.now()
  const rows = Object.values(await work()).reduce((sum, each) => sum + each, 0)
  const seconds = (performance.now() - begun) / 1000
  const rate = Math.round(rows / seconds / 1000)
  const memory = Math.round(process.memoryUsage().rss / 1024 / 1024)
  console.log(
    `${title.padEnd(22)} ${rows} rows in ${seconds.toFixed(1)} s: ${rate},000 rows/s; this process has ${memory} MiB`,
  )
}

const folder = temporaryFolder()
const postgres = await startPostgres()
try {
  const embedded = (name: string): StorePlace => ({ dataFolder: join(folder, name), databaseUrl: undefined })
  const onPostgres: StorePlace = { dataFolder: folder, databaseUrl: await createDatabase(postgres.url) }
  const [there, back] = [join(folder, 'there.gz'), join(folder, 'back.gz')]
  fill(join(folder, 'jobcast.db'))
  const first: StorePlace = { dataFolder: folder, databaseUrl: undefined }
  await timed('export from SQLite', () => exportStore(first, there, '0'))
  console.log(
    `the file has ${Math.round(statSync(there).size / 1024 / 1024)} MiB, the database ${Math.round(statSync(join(folder, 'jobcast.db')).size / 1024 / 1024)}`,
  )
  await timed('import to PostgreSQL', () => importStore(onPostgres, there))
  await timed('export from PostgreSQL', () => exportStore(onPostgres, back, '0'))
  await timed('import to SQLite', () => importStore(embedded('back'), back))
} finally {
  await postgres.stop()
  removeFolder(folder)
}
