// Limit: only the trigger on PostgreSQL, in as few lines as possible (with sketch-app.ts). The same checks, the same
// durability (fsync before the response), the same response; group commit with two commits in flight; the owner's keys,
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
  type Earlier,
  keyMs,
  planGroup,
  type Refusal,
  type Rows,
  replayEarlier,
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
  CREATE INDEX ON execution (device_no, execution_id) WHERE state < 3;
  CREATE TABLE idempotency_key (key text COLLATE "C" PRIMARY KEY, request_hash bytea NOT NULL, run_id bigint NOT NULL,
    created_at bigint NOT NULL);`
// Locks the current row of the owner, not the one in the statement's snapshot; if its version differs, nothing is written.
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

// The same where some calls have a key. Keys are claimed in their order, so that two groups do not wait for each other.
const WRITE_KEYED = `
  WITH guard AS MATERIALIZED (SELECT FROM owner WHERE owner_no = 1 AND version = $1 FOR SHARE),
  new_run AS MATERIALIZED (
    SELECT new.* FROM guard, unnest($2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::int[], $10::text[], $11::text[])
      AS new (run_id, job_no, launched_at, first_execution_id, total, key, hash)),
  claimed AS (
    INSERT INTO idempotency_key
    SELECT key, decode(hash, 'hex'), run_id, launched_at FROM new_run WHERE key IS NOT NULL ORDER BY key
    ON CONFLICT (key) DO UPDATE SET request_hash = excluded.request_hash, run_id = excluded.run_id, created_at = excluded.created_at
    WHERE idempotency_key.created_at <= $12::bigint RETURNING run_id),
  made AS MATERIALIZED (SELECT * FROM new_run WHERE key IS NULL OR run_id IN (SELECT run_id FROM claimed)),
  runs AS (
    INSERT INTO run (run_id, owner_no, job_no, launched_at, first_execution_id, total)
    SELECT run_id, 1, job_no, launched_at, first_execution_id, total FROM made),
  executions AS (
    INSERT INTO execution (execution_id, run_id, device_no)
    SELECT new.execution_id, new.run_id, new.device_no
    FROM unnest($7::bigint[], $8::bigint[], $9::int[]) AS new (execution_id, run_id, device_no)
    WHERE new.run_id IN (SELECT run_id FROM made))
  SELECT count(*)::int AS held, (SELECT array_agg(run_id::int) FROM made) AS made FROM guard`
const FIND_KEYS = `
  SELECT key, request_hash AS "requestHash", run_id::int AS "runId", first_execution_id::int AS "firstId", launched_at::float8 AS at
  FROM idempotency_key JOIN run USING (run_id) WHERE key = ANY ($1)`

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

/** Looks everything up again and retries while the directory was stale at the write. */
async function write(group: Call[]): Promise<(Created | Refusal)[]> {
  for (;;) {
    const { version } = directory
    const { outcomes, rows: written } = planGroup(directory, group)
    const { runIds, jobNos, ats, firstIds, totals, deviceNos, keys, hashes } = written
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
    if (keys.every((key) => key === null)) {
      const { rows } = await pool.query({ name: 'write', text: WRITE, values })
      if (rows[0].held === 1) return outcomes
    } else {
      const texts = hashes.map((hash) => hash && Buffer.from(hash).toString('hex'))
      const more = [keys, texts, Date.now() - keyMs]
      const { rows } = await pool.query({ name: 'keyed', text: WRITE_KEYED, values: [...values, ...more] })
      if (rows[0].held === 1) return replayEarlier(outcomes, await findEarlier(written, rows[0].made ?? []))
    }
    await refresh()
  }
}

async function findEarlier({ runIds, keys, hashes }: Rows, made: number[]): Promise<Earlier[]> {
  if (made.length === runIds.length) return []
  const asking = runIds.flatMap((runId, run) => (made.includes(runId) ? [] : [run]))
  const { rows } = await pool.query(FIND_KEYS, [asking.map((run) => keys[run])])
  return asking.map((run) => {
    const { key: _, requestHash, ...first } = rows.find(({ key }) => key === keys[run])
    return { run, ...first, isSame: Buffer.compare(requestHash, hashes[run] ?? new Uint8Array()) === 0 }
  })
}

await refresh()
await serveSketch(apiKey, write)
