// Limit: the trigger on PostgreSQL and nothing else, in as few lines as it takes. The same checks, the same durability
// (fsync before the answer), the same answer; group commit with two commits under way; the owner's keys, jobs and devices
// in memory, guarded by a version that the writing statement compares. No events, logs, metrics, history, quotas,
// idempotency keys, commit markers, and one node only. Argument: the address of an empty database.

import { hash, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { newSecretText } from '@jobcast/server'
import Fastify from 'fastify'
import pg from 'pg'
import { fleet, jobName } from '../fleet.ts'
import { tellParent } from '../server-process.ts'

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

type Device = { deviceNo: number; deviceId: string; deviceName: string }
type Key = { secretHash: Buffer; scopes: string[]; expiresAt: number | null; revokedAt: number | null }
type Refusal = { status: number; code: string }
type Planned = { jobNo: number; devices: Device[] }
type Created = { runId: number; firstId: number; devices: Device[] }
type Call = {
  apiKey: unknown
  jobName: string
  deviceIds: string[]
  at: number
  resolve: (outcome: Created | Refusal) => void
  reject: (error: Error) => void
}

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

const directory = {
  version: 0,
  keys: new Map<string, Key>(),
  jobs: new Map<string, number>(),
  devices: new Map<string, Device>(),
}

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

const maxGroup = 20_000
let lastRunId = 0
let lastExecutionId = 0
let inFlight = 0
const waiting: Call[] = []

function sendGroups(): void {
  while (inFlight < 2 && waiting.length > 0) {
    let [size, weight] = [0, 0]
    while (size < waiting.length && (size === 0 || weight < maxGroup))
      weight += waiting[size++]?.deviceIds.length ?? 0
    const group = waiting.splice(0, size)
    inFlight++
    void write(group)
      .catch((error) => {
        for (const { reject } of group) reject(error)
      })
      .finally(() => {
        inFlight--
        sendGroups()
      })
  }
}

/** What was looked up is looked up again as long as it was old when it was to be written. */
async function write(group: Call[]): Promise<void> {
  for (;;) {
    const { version } = directory
    const [runIds, jobNos, ats, firstIds, totals]: number[][] = [[], [], [], [], []]
    const [ids, runs, deviceNos]: number[][] = [[], [], []]
    const outcomes = group.map((call): Created | Refusal => {
      const planned = plan(call)
      if ('code' in planned) return planned
      const { jobNo, devices } = planned
      const created = { runId: ++lastRunId, firstId: lastExecutionId + 1, devices }
      runIds?.push(created.runId)
      jobNos?.push(jobNo)
      ats?.push(call.at)
      firstIds?.push(created.firstId)
      totals?.push(devices.length)
      for (const { deviceNo } of devices) {
        ids?.push(++lastExecutionId)
        runs?.push(created.runId)
        deviceNos?.push(deviceNo)
      }
      return created
    })
    const columns = [runIds, jobNos, ats, firstIds, totals, ids, runs, deviceNos]
    const values = [version, ...columns.map((column) => `{${column?.join()}}`)]
    const { rows } = await pool.query({ name: 'write', text: WRITE, values })
    if (rows[0].held === 1) {
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index] as Created | Refusal)
      return
    }
    await refresh()
  }
}

function plan({ apiKey, jobName, deviceIds, at }: Call): Planned | Refusal {
  const key = typeof apiKey === 'string' ? directory.keys.get(apiKey.slice(3, 13)) : undefined
  const isSame =
    key !== undefined && timingSafeEqual(hash('sha256', apiKey as string, 'buffer'), key.secretHash)
  if (!isSame || key.revokedAt !== null) return { status: 403, code: 'J-802' }
  if (key.expiresAt !== null && key.expiresAt <= at) return { status: 403, code: 'J-803' }
  if (!key.scopes.includes('TRIGGER')) return { status: 403, code: 'J-804' }
  const jobNo = directory.jobs.get(jobName)
  if (jobNo === undefined) return { status: 404, code: 'J-301' }
  const devices: Device[] = []
  for (const deviceId of deviceIds) {
    const device = directory.devices.get(deviceId)
    if (device === undefined) return { status: 404, code: 'J-001' }
    devices.push(device)
  }
  return { jobNo, devices }
}

function toAnswer({ firstId, devices }: Created, { jobName, at }: Pick<Call, 'jobName' | 'at'>): string {
  const end = `","execState":"PENDING","launchedAt":"${new Date(at).toISOString().slice(0, 19)}"}`
  let text = '['
  for (const [index, { deviceId, deviceName }] of devices.entries()) {
    text += `${index ? ',' : ''}{"jobExecutionId":${firstId + index},"jobName":"${jobName}","deviceId":"${deviceId}",`
    text += `"deviceName":"${deviceName}${end}`
  }
  return `${text}]`
}

await refresh()
const body = {
  type: 'object',
  required: ['jobName', 'deviceIds'],
  properties: {
    jobName: { type: 'string', minLength: 1 },
    deviceIds: {
      type: 'array',
      minItems: 1,
      maxItems: fleet.length,
      items: { type: 'string', minLength: 1 },
    },
  },
} as const
const app = Fastify({ bodyLimit: 4 * 1024 * 1024 })
app.post<{ Body: { jobName: string; deviceIds: string[] } }>(
  '/job/api/jobs/execute',
  { schema: { body } },
  async ({ headers, body: { jobName, deviceIds } }, reply) => {
    const distinct = deviceIds.length === 1 ? deviceIds : [...new Set(deviceIds)]
    const call = { apiKey: headers['x-api-key'], jobName, deviceIds: distinct, at: Date.now() }
    const outcome = await new Promise<Created | Refusal>((resolve, reject) => {
      waiting.push({ ...call, resolve, reject })
      sendGroups()
    })
    if ('code' in outcome) return reply.code(outcome.status).send(outcome)
    return reply
      .code(201)
      .header('location', `/job/api/runs/${outcome.runId}`)
      .type('application/json; charset=utf-8')
      .send(toAnswer(outcome, call))
  },
)
await app.listen({ host: '127.0.0.1', port: 0 })
tellParent((app.server.address() as AddressInfo).port, apiKey)
