// Limit: the same rows into the same tables of a database opened the same way, by one process, without HTTP.
// Arguments: data folder, devices per call, calls per transaction, milliseconds to warm up, to measure.

import { join } from 'node:path'
import { inTransaction, openDatabase } from '../../server/src/store/sqlite/database.ts'

const [folder = '', ...numbers] = process.argv.slice(2)
const [devices = 1, callsPerGroup = 1, warmUpMs = 0, measureMs = 1000] = numbers.map(Number)

const db = openDatabase(join(folder, 'jobcast.db'))
const insertRun = db.prepare(`
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending)
  VALUES (?, 1, 1, 1, ?, ?, ?, ?)`)
const setLastId = db.prepare('UPDATE last_id SET run_id = ?, execution_id = ?')
// Fifty rows per statement: single rows take up to twice the CPU; a JSON list, as the service uses, takes the same.
const rowsAtOnce = Math.min(devices, 50)
const insertExecutions = db.prepare(`
  INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
  VALUES ${Array(rowsAtOnce).fill("(?, ?, 1, ?, 'PENDING', 1, 1)").join(', ')}`)

const last = db.prepare('SELECT run_id, execution_id FROM last_id').get()
let runId = Number(last?.run_id)
let executionId = Number(last?.execution_id)

function insertCall(): void {
  insertRun.run(++runId, Date.now(), executionId + 1, devices, devices)
  for (let done = 0; done < devices; done += rowsAtOnce) {
    const values: number[] = []
    for (let index = 0; index < rowsAtOnce; index++) values.push(++executionId, runId, done + index + 1)
    insertExecutions.run(...values)
  }
}

function insertGroups(forMs: number): number {
  const begun = performance.now()
  let calls = 0
  while (performance.now() - begun < forMs) {
    inTransaction(db, () => {
      for (let call = 0; call < callsPerGroup; call++) insertCall()
      setLastId.run(runId, executionId)
    })
    calls += callsPerGroup
  }
  return (calls * 1000) / (performance.now() - begun)
}

insertGroups(warmUpMs)
process.send?.({ callsPerSecond: insertGroups(measureMs) })
process.disconnect?.()
