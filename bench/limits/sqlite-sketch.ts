// Limit: the trigger on SQLite and nothing else, in as few lines as it takes (and sketch-app.ts). The same checks, the same
// durability (full sync before the answer), the same answer; group commit in a thread of its own; the owner's keys, jobs
// and devices in memory, which one process that sees every write may rely on. Argument: an empty folder.

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
  planGroup,
  type Refusal,
  type Rows,
  serveSketch,
} from './sketch-app.ts'

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE run (run_id INTEGER PRIMARY KEY, owner_no INTEGER NOT NULL, job_no INTEGER NOT NULL,
    launched_at INTEGER NOT NULL, first_execution_id INTEGER NOT NULL, total INTEGER NOT NULL) STRICT;
  CREATE TABLE execution (execution_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, device_no INTEGER NOT NULL,
    state INTEGER NOT NULL) STRICT;
  CREATE INDEX unfinished ON execution (execution_id) WHERE state < 3;`
const INSERT_RUN = 'INSERT INTO run VALUES (?, 1, ?, ?, ?, ?)'
const INSERT_EXECUTIONS = `
  INSERT INTO execution SELECT ? + key, ?, value, 0 FROM json_each(?)`

if (isMainThread) await serve()
else writeGroups(workerData)

function writeGroups(folder: string): void {
  const db = new DatabaseSync(join(folder, 'sketch.db'))
  db.exec(SCHEMA)
  const [insertRun, insertExecutions] = [db.prepare(INSERT_RUN), db.prepare(INSERT_EXECUTIONS)]
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]
  parentPort?.on('message', ({ runIds, jobNos, ats, firstIds, totals, deviceNos }: Rows) => {
    begin.run()
    let at = 0
    for (const [index, runId] of runIds.entries()) {
      const [jobNo, launchedAt, firstId, total] = [jobNos, ats, firstIds, totals].map((of) => of[index] ?? 0)
      insertRun.run(runId, jobNo ?? 0, launchedAt ?? 0, firstId ?? 0, total ?? 0)
      insertExecutions.run(firstId ?? 0, runId, `[${deviceNos.slice(at, at + (total ?? 0)).join()}]`)
      at += total ?? 0
    }
    commit.run()
    parentPort?.postMessage('committed')
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
  /** The thread answers in the order in which it is asked. */
  const inFlight: (() => void)[] = []
  writer.on('message', () => inFlight.shift()?.())
  await serveSketch(apiKey, (group: Call[]) => {
    const { outcomes, rows } = planGroup(directory, group)
    return new Promise<(Created | Refusal)[]>((resolve) => {
      inFlight.push(() => resolve(outcomes))
      writer.postMessage(rows)
    })
  })
}
