// The write-ahead log is checkpointed concurrently with the writer, and then restarts.

import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { newTemporaryFolder, removeAfter, temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { openDatabase, openReader } from '../../src/store/sqlite/database.ts'
import { longPages, prepareCheckpoint, watchLog } from '../../src/store/sqlite/log-length.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { emptyContent, seedOwner } from './store-under-test.ts'

const pageBytes = 4096

/** Of the database; `carried`: how many of the pages in the log are in the file as well. */
function logOf(db: DatabaseSync): { pages: number; carried: number } {
  const { log, checkpointed } = db.prepare('PRAGMA wal_checkpoint(NOOP)').get() ?? {}
  return { pages: Number(log), carried: Number(checkpointed) }
}

test('the writer reports once that its log is long, and makes no checkpoint within a commit', (t) => {
  const path = join(temporaryFolder(t), 'jobcast.db')
  const db = openDatabase(path)
  const other = openDatabase(path)
  t.after(() => {
    db.close()
    other.close()
  })
  const isLong = watchLog(db)
  db.exec('CREATE TABLE page (bytes BLOB)')
  const insert = db.prepare('INSERT INTO page VALUES (zeroblob(?))')
  const write = (pages: number) => insert.run(pages * pageBytes)

  write(longPages / 2)
  assert.equal(isLong(), false)
  write(longPages / 2)
  assert.deepEqual([isLong(), isLong()], [true, false])
  assert.equal(logOf(db).carried, 0)

  // Whoever still reads keeps the log from starting over: it is told again only when it is as much longer.
  const reader = openReader(path)
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM page').get()
  prepareCheckpoint(other)()
  write(10)
  assert.equal(isLong(), false)
  write(longPages)
  assert.deepEqual([isLong(), isLong()], [true, false])
  reader.close()

  prepareCheckpoint(other)()
  write(10)
  assert.ok(logOf(db).pages < longPages)
  assert.equal(isLong(), false)
  write(longPages)
  assert.equal(isLong(), true)
})

test('a long log is restarted, and nothing of it is lost', async (t) => {
  const folder = newTemporaryFolder()
  const open = () => openSqliteStore({ folder, onLost: assert.ifError })
  let store = open()
  t.after(() => store.close())
  removeAfter(t, folder)
  const { ownerNo } = await seedOwner(store)
  const text = 'x'.repeat(1_000_000)
  const put = (jobName: string, at: number) =>
    store.putJob({ ownerNo, jobName, content: { ...emptyContent, document: { text } }, at })
  const db = new DatabaseSync(join(folder, 'jobcast.db'))
  const jobs = Math.ceil((longPages * pageBytes) / text.length) + 1
  for (let round = 1; round <= 2; round++) {
    for (let job = 0; job < jobs; job++) await put(`job-${round}-${job}`, round)
    await waitUntil('the log has started over', async () => {
      await store.checkHealth()
      return logOf(db).pages < longPages / 2
    })
  }
  db.close()
  const size = statSync(join(folder, 'jobcast.db-wal')).size
  assert.ok(size < 2 * longPages * pageBytes, `${size} bytes`)
  await store.close()
  store = open()
  const last = await store.getJob({ ownerNo, jobName: `job-2-${jobs - 1}` })
  assert.deepEqual(last?.document, { text })
})
