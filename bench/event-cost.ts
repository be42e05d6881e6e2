// Measures what the event of a run's creation costs a trigger: groups of triggers written with and without the event log
// (docs/decisions/0003). Nothing is synced: a sync costs the same in both cases, and far more than the event.

import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inTransaction, migrateDatabase, openDatabase } from '../server/src/store/sqlite/database.ts'
import { type EventLog, prepareEventLog } from '../server/src/store/sqlite/events.ts'
import { sqliteMigrations } from '../server/src/store/sqlite/sqlite-store.ts'
import type { CheckedTrigger } from '../server/src/store/sqlite/trigger-message.ts'
import { prepareTriggers } from '../server/src/store/sqlite/triggers.ts'
import { median } from './numbers.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const triggersPerGroup = 64
const groups = 500
const rounds = 7
const deviceNos = Int32Array.of(1)

function newTrigger(id: number): CheckedTrigger {
  const ids = { runId: id, firstExecutionId: id, total: 1, ownerNo: 1, jobNo: 1, jobVersion: 1, keyId: 'k' }
  const none = { expireAt: null, deadlineAt: null, retryOf: null, audit: '{}', idempotency: null }
  return { ...ids, ...none, launchedAt: id, deviceNos }
}

async function writeGroups(db: DatabaseSync, log: EventLog | undefined): Promise<number> {
  const { recordTriggers } = prepareTriggers(db, log)
  let id = 0
  const write = async () => {
    const group = Array.from({ length: triggersPerGroup }, () => newTrigger(++id))
    await inTransaction(db, () => recordTriggers(group))
  }
  for (let warmUp = 0; warmUp < groups / 5; warmUp++) await write()
  // CPU time, because it depends little on other work on the machine.
  const before = process.cpuUsage()
  for (let group = 0; group < groups; group++) await write()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (groups * triggersPerGroup)
}

async function microsecondsPerTrigger(withLog: boolean): Promise<number> {
  const folder = temporaryFolder()
  const db = openDatabase(join(folder, 'jobcast.db'))
  try {
    migrateDatabase(db, sqliteMigrations())
    db.exec('PRAGMA synchronous = OFF')
    return await writeGroups(db, withLog ? prepareEventLog(db, () => undefined) : undefined)
  } finally {
    db.close()
    removeFolder(folder)
  }
}

async function measure(): Promise<{ without: number; withLog: number }> {
  const results: { without: number; with: number }[] = []
  for (let round = 0; round < rounds; round++) {
    results.push({ without: await microsecondsPerTrigger(false), with: await microsecondsPerTrigger(true) })
  }
  return {
    without: median(results.map((result) => result.without)),
    withLog: median(results.map((result) => result.with)),
  }
}

/** The cost of the event per trigger. */
export async function eventMicroseconds(): Promise<number> {
  const { without, withLog } = await measure()
  return withLog - without
}

if (import.meta.main) {
  const { without, withLog } = await measure()
  console.log(`${triggersPerGroup} triggers of one device a transaction; median of ${rounds} rounds`)
  console.log(`without the event  ${without.toFixed(1)} µs a trigger`)
  console.log(`with it            ${withLog.toFixed(1)} µs, ${(withLog - without).toFixed(1)} µs more`)
}
