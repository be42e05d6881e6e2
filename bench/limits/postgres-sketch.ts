// Limit: the trigger on PostgreSQL and nothing else, in as few lines as it takes (and sketch-app.ts). The same checks, the
// same durability (fsync before the answer), the same answer; group commit with two commits under way; the owner's keys,
// jobs and devices in memory, guarded by a version that the writing statement compares. Argument: the address of an empty
// database.

import { hash } from 'node:crypto'
import { newSecretText } from '@jobcast/server'
import pg from 'pg'
import { fleet, jobName } from '../fleet.ts'
import {
  type Call,
  type Created,
  type Directory,
  planGroup,
  type Refusal,
  serveSketch,
} from './sketch-app.ts'

const SCHEMA = `
  CREATE TABLE owner (owner_no int PRIMARY KEY, version bigint NOT NULL);
  CREATE TABLE api_key (key_id text PRIMARY KEY, owner_no int NOT NULL, secret_hash bytea NOT NULL, scopes text[] NOT NULL,
    expires_at bigint, revoked_at bigint);
  CREATE TABLE job (job_no int PRIMARY KEY, owner_no int NOT NULL, job_name text NOT NULL, UNIQUE (owner_no, job_name));
  CREATE TABLE device (device_no int PRIMARY KEY, owner_no int NOT NULL, device_id text NOT NULL, device_name text NOT NULL,
    UNIQUE (owner_no, device_id));
  CREATE TABLE run (run_id bigint PRIMARY KEY, owner_no int NOT NULL, job_no int NOT NULL, launched_at bigint NOT NULL,
    first_execution_id bigint NOT NULL, total int NOT NULL);
  CREATE TABLE execution (execution_id bigint PRIMARY KEY, run_id bigint NOT NULL, device_no int NOT NULL,
    state smallint NOT NULL DEFAULT 0);
  CREATE INDEX ON execution (device_no, execution_id) WHERE state < 3;`
// The row of the owner is locked as it is now, whatever the statement saw when it began; without it nothing is written.
const WRITE = `
  WITH guard AS MATERIALIZED (SELECT FROM owner WHERE owner_no = 1 AND version = $1 FOR SHARE),
  runs AS (
    INSERT INTO run (run_id, owner_no, job_no, launched_at, first_execution_id, total)
    SELECT new.run_id, 1, job_no, launched_at, first_execution_id, total
    FROM guard, unnest($2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::int[])
      AS new (run_id, job_no, launched_at, first_execution_id, total)),
  executions AS (
    INSERT INTO execution (execution_id, run_id, device_no)
    SELECT new.execution_id, new.run_id, new.device_no
    FROM guard, unnest($7::bigint[], $8::bigint[], $9::int[]) AS new (execution_id, run_id, device_no))
  SELECT count(*)::int AS held FROM guard`

const [url = ''] = process.argv.slice(2)
const settings = '-c jit=off -c plan_cache_mode=force_generic_plan'
const pool = new pg.Pool({ connectionString: url, max: 2, options: settings })
const { id: keyId, text: apiKey } = newSecretText('jc')
await pool.query(SCHEMA)
await pool.query('INSERT INTO owner VALUES (1, 1)')
await pool.query('INSERT INTO api_key VALUES ($1, 1, $2, $3)', [
  keyId,
  hash('sha256', apiKey, 'buffer'),
  ['TRIGGER'],
])
await pool.query('INSERT INTO job VALUES (1, 1, $1)', [jobName])
await pool.query(
  'INSERT INTO device SELECT place, 1, id, name FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS new (id, name, place)',
  [fleet.map(({ deviceId }) => deviceId), fleet.map(({ deviceName }) => deviceName)],
)

const directory: Directory = { version: 0, keys: new Map(), jobs: new Map(), devices: new Map() }

async function refresh(): Promise<void> {
  const [owner, keys, jobs, devices] = await Promise.all([
    pool.query('SELECT version FROM owner'),
    pool.query(
      'SELECT key_id, secret_hash AS "secretHash", scopes, expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM api_key',
    ),
    pool.query('SELECT job_name, job_no FROM job'),
    pool.query(
      'SELECT device_no AS "deviceNo", device_id AS "deviceId", device_name AS "deviceName" FROM device',
    ),
  ])
  directory.version = Number(owner.rows[0].version)
  directory.keys = new Map(keys.rows.map(({ key_id, ...key }) => [key_id, key]))
  directory.jobs = new Map(jobs.rows.map(({ job_name, job_no }) => [job_name, job_no]))
  directory.devices = new Map(devices.rows.map((device) => [device.deviceId, device]))
}

/** What was looked up is looked up again as long as it was old when it was to be written. */
async function write(group: Call[]): Promise<(Created | Refusal)[]> {
  for (;;) {
    const { version } = directory
    const { outcomes, rows: written } = planGroup(directory, group)
    const { runIds, jobNos, ats, firstIds, totals, deviceNos } = written
    const [ids, runs] = [[] as number[], [] as number[]]
    for (const [index, runId] of runIds.entries()) {
      const first = firstIds[index] ?? 0
      for (let id = first; id < first + (totals[index] ?? 0); id++) {
        ids.push(id)
        runs.push(runId)
      }
    }
    const columns = [runIds, jobNos, ats, firstIds, totals, ids, runs, deviceNos]
    const values = [version, ...columns.map((column) => `{${column.join()}}`)]
    const { rows } = await pool.query({ name: 'write', text: WRITE, values })
    if (rows[0].held === 1) return outcomes
    await refresh()
  }
}

await refresh()
await serveSketch(apiKey, write)
