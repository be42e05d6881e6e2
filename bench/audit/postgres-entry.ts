// What the audit entry of a trigger costs PostgreSQL and its client: the statements of a trigger, with and without the part
// that inserts it. Commits do not wait for the disk: a sync costs the same in both cases, and far more.

import { randomInt } from 'node:crypto'
import pg from 'pg'
import { steadyInstant } from '../../server/src/domain/common/instants.ts'
import { launchStatement } from '../../server/src/store/postgres/launch-statement.ts'
import type { Launch } from '../../server/src/store/postgres/trigger-group.ts'
import { cpuMs } from '../devices/process-use.ts'
import { fleet } from '../fleet.ts'
import { detailsOf } from './details-of.ts'
import { type EntryCost, inTurns } from './in-turns.ts'

const triggersPerTurn = 1920
/** The owner that a new database has. */
const ownerNo = 1
const single = 'launch_with_key'
const singleWithout = 'launch_without_entry'
const entryPart = /new_entry AS \([\s\S]*?\), (?=new_execution AS)/

/** `url`: a database with the job and the fleet. `perGroup`: how many triggers one statement writes. */
export async function postgresEntry(url: string, perGroup: number, turns: number): Promise<EntryCost> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('SET synchronous_commit = off')
    const { rows } = await client.query(`
      SELECT pg_backend_pid() AS pid, catalogue_state(${ownerNo}) AS state, job_no AS "jobNo", version_no AS "jobVersion",
        (SELECT device_no FROM device LIMIT 1) AS "deviceNo", pg_get_functiondef('${single}'::regproc) AS source
      FROM job_version LIMIT 1`)
    const { pid, state, jobNo, jobVersion, deviceNo, source } = rows[0]
    // Overwritten in each round.
    await client.query(cut(source.replaceAll(single, singleWithout), /INSERT INTO audit_entry[^;]*;/))
    const marker = { markerId: randomInt(2 ** 47), nodeNo: 1, commits: 0 }
    const names = new Map([[ownerNo, { state, jobs: new Map(), devices: new Map() }]])
    const newLaunches = (hasEntry: boolean) =>
      Array.from({ length: perGroup }, (_, index) =>
        newLaunch({ jobNo, jobVersion, deviceNo }, index, hasEntry),
      )
    const [{ text: whole }] = [launchStatement(names, newLaunches(true))(marker)]
    const shortened = perGroup === 1 ? whole.replace(single, singleWithout) : cut(whole, entryPart)
    const measure = async (hasEntry: boolean) => {
      const before = cpuMs(pid) + cpuMs(process.pid)
      for (let written = 0; written < triggersPerTurn; written += perGroup) {
        const statement = launchStatement(names, newLaunches(hasEntry))(marker)
        if (statement.text !== whole) throw new Error('the statement is another one')
        const query = { name: `launch ${hasEntry}`, text: hasEntry ? whole : shortened }
        await client.query({ ...query, values: statement.values ?? [] })
        marker.commits++
      }
      return ((cpuMs(pid) + cpuMs(process.pid) - before) * 1000) / triggersPerTurn
    }
    return await inTurns(
      turns,
      () => measure(false),
      () => measure(true),
    )
  } finally {
    await client.end()
  }
}

/** Throws if there is no such part, so that nothing is compared with itself. */
function cut(text: string, part: RegExp): string {
  if (!part.test(text)) throw new Error(`the statement has changed: ${text}`)
  return text.replace(part, '')
}

type Numbers = { jobNo: number; jobVersion: number; deviceNo: number }

function newLaunch({ jobNo, jobVersion, deviceNo }: Numbers, index: number, hasEntry: boolean): Launch {
  const launchedAt = Date.now()
  const none = { expireAt: null, deadlineAt: null, retryOf: null }
  const [{ deviceId, deviceName }] = fleet as [(typeof fleet)[number]]
  const unlimited = { expireAfterSeconds: null, deadlineSeconds: null }
  return {
    trigger: {
      ...{ ownerNo, jobName: 'restart', deviceIds: [deviceId], launchedAt, clock: steadyInstant(0) },
      ...{ keyId: '3f9aZ0qLxw', retryOf: null, idempotency: null },
    },
    job: { jobNo, versionNo: jobVersion, ...unlimited },
    devices: [{ deviceNo, deviceId, deviceName }],
    run: {
      ...{ runId: 0, ownerNo, jobNo, jobVersion, launchedAt, firstExecutionId: index, total: 1 },
      ...{ ...none, keyId: '3f9aZ0qLxw', audit: detailsOf(hasEntry) },
    },
  }
}
