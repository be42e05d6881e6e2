// Measures what an index by device would cost a trigger: bulk inserts with the current schema, and with the index that it
// omits for waiting executions (docs/decisions/0002).

import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inTransaction, migrateDatabase, openDatabase } from '../server/src/store/sqlite/database.ts'
import { sqliteMigrations } from '../server/src/store/sqlite/sqlite-store.ts'
import { INSERT_EXECUTIONS } from '../server/src/store/sqlite/triggers.ts'
import { median } from './numbers.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const devices = 10_000
const calls = 60
const rounds = 5
const deviceNos = JSON.stringify(Array.from({ length: devices }, (_, index) => index + 1))
const fullIndex = 'CREATE INDEX execution_by_any_device ON execution (device_no, execution_id)'

async function insertCalls(db: DatabaseSync): Promise<number> {
  const insert = db.prepare(INSERT_EXECUTIONS)
  const begun = performance.now()
  for (let call = 0; call < calls; call++) {
    const firstExecutionId = call * devices + 1
    await inTransaction(db, () => insert.run(firstExecutionId, call + 1, 1, deviceNos))
  }
  return (calls * devices * 1000) / (performance.now() - begun)
}

async function rowsPerSecond(extra?: string): Promise<number> {
  const folder = temporaryFolder()
  const db = openDatabase(join(folder, 'jobcast.db'))
  try {
    migrateDatabase(db, sqliteMigrations())
    if (extra) db.exec(extra)
    return await insertCalls(db)
  } finally {
    db.close()
    removeFolder(folder)
  }
}

const results: { without: number; with: number }[] = []
for (let round = 0; round < rounds; round++) {
  results.push({ without: await rowsPerSecond(), with: await rowsPerSecond(fullIndex) })
}
const without = median(results.map((result) => result.without))
const withIndex = median(results.map((result) => result.with))
const shown = (rows: number) => `${Math.round(rows / 1000).toLocaleString('en')},000 rows/s`
console.log(`${devices} rows a transaction, ${calls} transactions, full sync; median of ${rounds} rounds`)
console.log(`without an index by device  ${shown(without)}`)
console.log(
  `with it                     ${shown(withIndex)}, ${(without / withIndex).toFixed(1)} times slower`,
)
