// Limit: only the trigger on SQLite, in as few lines as possible (with sketch-app.ts). The same checks, the same
// durability (full sync before the response), the same response; group commit in its own thread; the owner's keys, jobs and
// devices in memory, which is safe because this process makes every write. Argument: an empty folder.

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { newSecretText } from '@jobcast/server'
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
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE run (run_id INTEGER PRIMARY KEY, owner_no INTEGER NOT NULL, job_no INTEGER NOT NULL,
    launched_at INTEGER NOT NULL, first_execution_id INTEGER NOT NULL, total INTEGER NOT NULL) STRICT;
  CREATE TABLE execution (execution_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, device_no INTEGER NOT NULL,
    state INTEGER NOT NULL) STRICT;
  CREATE INDEX unfinished ON execution (execution_id) WHERE state < 3;
  CREATE TABLE idempotency_key (key TEXT PRIMARY KEY, request_hash BLOB NOT NULL, run_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;`
const INSERT_RUN = 'INSERT INTO run VALUES (?, 1, ?, ?, ?, ?)'
const INSERT_EXECUTIONS = `
  INSERT INTO execution SELECT ? + key, ?, value, 0 FROM json_each(?)`
const CLAIM_KEY = `
  INSERT INTO idempotency_key VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET request_hash = excluded.request_hash, run_id = excluded.run_id, created_at = excluded.created_at
  WHERE created_at <= ?`
const FIND_KEY = `
  SELECT request_hash, run_id AS runId, first_execution_id AS firstId, launched_at AS at
  FROM idempotency_key JOIN run USING (run_id) WHERE key = ?`

if (isMainThread) await serve()
else writeGroups(workerData)

function writeGroups(folder: string): void {
  const db = new DatabaseSync(join(folder, 'sketch.db'))
  db.exec(SCHEMA)
  const [insertRun, insertExecutions] = [db.prepare(INSERT_RUN), db.prepare(INSERT_EXECUTIONS)]
  const [claimKey, findKey] = [db.prepare(CLAIM_KEY), db.prepare(FIND_KEY)]
  /** Undefined: the run has the key now. */
  const claim = ({ runIds, ats, keys, hashes }: Rows, run: number): Earlier | undefined => {
    const [key, hash, runId, at] = [keys[run], hashes[run], runIds[run] ?? 0, ats[run] ?? 0]
    if (!key || !hash || claimKey.run(key, hash, runId, at, at - keyMs).changes === 1) return undefined
    const { request_hash, ...first } = findKey.get(key) as Pick<Earlier, 'runId' | 'firstId' | 'at'> & {
      request_hash: Uint8Array
    }
    return { run, ...first, isSame: Buffer.compare(request_hash, hash) === 0 }
  }
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]
  parentPort?.on('message', (rows: Rows) => {
    const { runIds, jobNos, ats, firstIds, totals, deviceNos } = rows
    const earlier: Earlier[] = []
    begin.run()
    let at = 0
    for (const [index, runId] of runIds.entries()) {
      const [jobNo, launchedAt, firstId, total] = [jobNos, ats, firstIds, totals].map((of) => of[index] ?? 0)
      const found = claim(rows, index)
      if (found) earlier.push(found)
      else {
        insertRun.run(runId, jobNo ?? 0, launchedAt ?? 0, firstId ?? 0, total ?? 0)
        insertExecutions.run(firstId ?? 0, runId, `[${deviceNos.slice(at, at + (total ?? 0)).join()}]`)
      }
      at += total ?? 0
    }
    commit.run()
    parentPort?.postMessage(earlier)
  })
  parentPort?.postMessage('ready')
}

async function serve(): Promise<void> {
  const writer = new Worker(new URL(import.meta.url), { workerData: process.argv[2] })
  await once(writer, 'message')
  const { id, text: apiKey } = newSecretText('jc')
  const key = { scopes: ['TRIGGER'], expiresAt: null, revokedAt: null }
  const directory: Directory = {
    version: 1,
    keys: new Map([[id, { ...key, secretHash: hash('sha256', apiKey, 'buffer') }]]),
    jobs: new Map([[jobName, 1]]),
    devices: new Map(fleet.map((device, index) => [device.deviceId, { ...device, deviceNo: index + 1 }])),
  }
  /** The thread answers in the order of the requests. */
  const inFlight: ((earlier: Earlier[]) => void)[] = []
  writer.on('message', (earlier: Earlier[]) => inFlight.shift()?.(earlier))
  await serveSketch(apiKey, (group: Call[]) => {
    const { outcomes, rows } = planGroup(directory, group)
    return new Promise<(Created | Refusal)[]>((resolve) => {
      inFlight.push((earlier) => resolve(replayEarlier(outcomes, earlier)))
      writer.postMessage(rows)
    })
  })
}
