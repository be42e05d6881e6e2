import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { execStates } from '@jobcast/contract'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { migrateDatabase } from '../../src/store/sqlite/database.ts'
import { sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'
import { readUnfinished } from '../../src/store/sqlite/unfinished.ts'
import { unfinishedStates } from './execution-model.ts'

const run = fc.record({
  ownerNo: fc.integer({ min: 1, max: 3 }),
  states: fc.array(fc.constantFrom(...execStates), { minLength: 1, maxLength: 12 }),
  /** Ids that were given and never used. */
  gap: fc.nat(3),
})

test('at start exactly what has not ended is read, in order, in parts of any size', () => {
  const db = new DatabaseSync(':memory:')
  migrateDatabase(db, sqliteMigrations())
  for (const id of [1, 2, 3])
    db.exec(`
    INSERT INTO owner (owner_no, owner_id, owner_name, created_at) VALUES (${id}, 'ow_${id}', 'ow_${id}', 1)`)
  const insertRun = db.prepare(`
    INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending)
    VALUES (?, ?, 1, 1, 1, ?, ?, ?)`)
  const insertExecution = db.prepare(`
    INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
    VALUES (?, ?, ?, ?, ?, 1, 1)`)
  fc.assert(
    fc.property(fc.array(run, { maxLength: 30 }), fc.integer({ min: 1, max: 60 }), (runs, partSize) => {
      db.exec('BEGIN; DELETE FROM run; DELETE FROM execution')
      const expected: [number, number, number][] = []
      let lastId = 0
      let runId = 0
      for (const { ownerNo, states, gap } of runs) {
        runId += gap + 1
        const firstId = lastId + gap + 1
        const open = states.filter((state) => unfinishedStates.includes(state)).length
        insertRun.run(runId, ownerNo, firstId, states.length, open)
        for (const [place, state] of states.entries()) {
          const deviceNo = ownerNo * 100 + place
          insertExecution.run(firstId + place, runId, ownerNo, deviceNo, state)
          if (unfinishedStates.includes(state)) expected.push([ownerNo, firstId + place, deviceNo])
        }
        lastId = firstId + states.length - 1
      }
      const found: [number, number][] = []
      readUnfinished(db, (jobExecutionId, deviceNo) => found.push([jobExecutionId, deviceNo]), partSize)
      db.exec('ROLLBACK')
      assert.deepEqual(
        found,
        expected.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, id, deviceNo]) => [id, deviceNo]),
      )
    }),
    randomInputs({ test: 60, chaos: 3000 }),
  )
  db.close()
})
