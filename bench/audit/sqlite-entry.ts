// What the audit entry of a trigger costs the embedded store: the same groups of triggers, written with and without it. Nothing is
// synced: a sync costs the same in both cases, and far more.

import { join } from 'node:path'
import { inTransaction, migrateDatabase, openDatabase } from '../../server/src/store/sqlite/database.ts'
import { prepareEventLog } from '../../server/src/store/sqlite/events.ts'
import { sqliteMigrations } from '../../server/src/store/sqlite/sqlite-store.ts'
import type { CheckedTrigger } from '../../server/src/store/sqlite/trigger-message.ts'
import { prepareTriggers } from '../../server/src/store/sqlite/triggers.ts'
import { removeFolder, temporaryFolder } from '../processes.ts'
import { detailsOf } from './details-of.ts'
import { type EntryCost, inTurns } from './in-turns.ts'

const perGroup = 64
const groupsPerTurn = 30
const deviceNos = Int32Array.of(1)

export async function sqliteEntry(turns: number): Promise<EntryCost> {
  const folder = temporaryFolder()
  const db = openDatabase(join(folder, 'jobcast.db'))
  try {
    migrateDatabase(db, sqliteMigrations())
    db.exec('PRAGMA synchronous = OFF')
    const log = prepareEventLog(db, () => undefined)
    const withEntry = prepareTriggers(db, log)
    const without = prepareTriggers(db, { ...log, runAudited: () => undefined })
    let id = 0
    const measure = async ({ recordTriggers }: typeof withEntry, hasEntry: boolean) => {
      const { user, system } = process.cpuUsage()
      for (let group = 0; group < groupsPerTurn; group++) {
        const triggers = Array.from({ length: perGroup }, () => newTrigger(++id, hasEntry))
        await inTransaction(db, () => recordTriggers(triggers))
      }
      const after = process.cpuUsage()
      return (after.user + after.system - user - system) / (groupsPerTurn * perGroup)
    }
    return await inTurns(
      turns,
      () => measure(without, false),
      () => measure(withEntry, true),
    )
  } finally {
    db.close()
    removeFolder(folder)
  }
}

function newTrigger(id: number, hasEntry: boolean): CheckedTrigger {
  const ids = { runId: id, firstExecutionId: id, total: 1, ownerNo: 1, jobNo: 1, jobVersion: 1 }
  const none = { expireAt: null, deadlineAt: null, retryOf: null, idempotency: null }
  return { ...ids, ...none, keyId: '3f9aZ0qLxw', audit: detailsOf(hasEntry), launchedAt: id, deviceNos }
}
