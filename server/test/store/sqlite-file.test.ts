// What a commit means on SQLite depends on how the file is opened, and on being alone on it.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { spawnServer } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter, temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import { StartRefused } from '../../src/store/migrate.ts'
import { openDatabase, openReader } from '../../src/store/sqlite/database.ts'
import { dropDrafts } from '../../src/store/sqlite/draft-writer.ts'
import { migrateFolder } from '../../src/store/sqlite/migrate-folder.ts'
import { prepareWrites } from '../../src/store/sqlite/operations.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { createOne, emptyContent, readQueue, seedOwner, startedAt } from './store-under-test.ts'

function pragma(db: DatabaseSync, name: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}

async function openStore(t: TestContext) {
  const folder = newTemporaryFolder()
  const store = openSqliteStore({ folder, onLost: assert.ifError })
  t.after(() => store.close())
  removeAfter(t, folder)
  await store.checkHealth()
  return { folder, store }
}

test('the connection that writes has a write-ahead log, full sync and foreign keys, however it was before', (t) => {
  const path = join(temporaryFolder(t), 'jobcast.db')
  for (const mode of ['DELETE', 'TRUNCATE', 'WAL']) {
    const before = new DatabaseSync(path)
    before.exec(`PRAGMA journal_mode = ${mode}; PRAGMA synchronous = OFF`)
    before.close()
    const db = openDatabase(path)
    assert.equal(pragma(db, 'journal_mode'), 'wal')
    assert.equal(pragma(db, 'synchronous'), 2)
    assert.equal(pragma(db, 'foreign_keys'), 1)
    db.close()
  }
})

const onUnix = { skip: process.platform === 'win32' && 'SQLite has no such way of locking on Windows' }

test('a file system without a write-ahead log is refused with a sentence', onUnix, (t) => {
  // This way of locking has no shared memory, as on some network file systems.
  const path = `${pathToFileURL(join(temporaryFolder(t), 'jobcast.db'))}?vfs=unix-dotfile`
  assert.throws(() => openDatabase(path), {
    name: 'StartRefused',
    message:
      `The database at ${path} cannot be opened with a write-ahead log and full sync ` +
      '(journal_mode delete, synchronous 2). Is it on a network file system?',
  })
})

test('the connection that reads cannot write', (t) => {
  const path = join(temporaryFolder(t), 'jobcast.db')
  const db = openDatabase(path)
  db.exec('CREATE TABLE t (a)')
  const reader = openReader(path)
  assert.throws(() => reader.exec('INSERT INTO t VALUES (1)'), /readonly/)
  reader.close()
  db.close()
})

test('the health check reaches the disk', async (t) => {
  const { folder, store } = await openStore(t)
  const log = join(folder, 'jobcast.db-wal')
  const before = statSync(log)
  await store.checkHealth()
  assert.notDeepEqual([statSync(log).size, statSync(log).mtimeMs], [before.size, before.mtimeMs])
})

test('the health check does not touch the ids that are given next', async (t) => {
  const { store } = await openStore(t)
  const { trigger } = await seedOwner(store)
  const first = await createOne(store, trigger(['d1']))
  await store.checkHealth()
  const second = await createOne(store, trigger(['d1']))
  assert.equal(second.runId, first.runId + 1)
  assert.equal(second.firstExecutionId, first.firstExecutionId + 1)
})

test('a second store on the same folder is refused with a sentence, until the first is closed', async (t) => {
  const { folder, store } = await openStore(t)
  const message = `Another Jobcast is running on the data folder ${folder}. Stop it, or give --data another folder.`
  const open = () => openSqliteStore({ folder, onLost: assert.ifError })
  assert.throws(open, new StartRefused(message))
  assert.throws(open, new StartRefused(message))
  await store.checkHealth()
  await store.close()
  const next = open()
  await next.checkHealth()
  await next.close()
})

test('a second program on the same folder ends with that sentence, and the first continues', async (t) => {
  const folder = temporaryFolder(t)
  const first = await spawnServer(folder)
  try {
    await assert.rejects(spawnServer(folder), /cannot start: Another Jobcast is running on the data folder/)
    assert.equal((await first.call('GET', '/readyz')).status, 200)
  } finally {
    await first.end('SIGKILL')
  }
  // The lock goes with the process, however it ended.
  const next = await spawnServer(folder)
  assert.equal((await next.end('SIGTERM')).code, 0)
})

const withModes = { skip: process.platform === 'win32' && 'Windows has no such modes' }

/** Of the folder and of everything in it, in octal. */
function modesIn(folder: string): Record<string, string> {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  const modes = readdirSync(folder).map((name) => [name, modeOf(join(folder, name))])
  return Object.fromEntries([['.', modeOf(folder)], ...modes])
}

async function openIn(t: TestContext, folder: string): Promise<void> {
  const store = openSqliteStore({ folder, onLost: assert.ifError })
  t.after(() => store.close())
  await store.checkHealth()
  // By a thread of its own, which has opened its files then.
  await store.listOwners({ after: undefined, limit: 1 })
}

const closedFiles = {
  'jobcast.db': '600',
  'jobcast.db-shm': '600',
  'jobcast.db-wal': '600',
  'jobcast.lock': '600',
  'jobcast.lock-journal': '600',
}

test('only the owner of the process can read a new data folder and its files', withModes, async (t) => {
  const parent = temporaryFolder(t)
  const folder = join(parent, 'a', 'b')
  await openIn(t, folder)
  assert.deepEqual(modesIn(folder), { '.': '700', ...closedFiles })
  const migrated = join(parent, 'migrated')
  migrateFolder(migrated)
  assert.deepEqual(modesIn(migrated), { '.': '700', 'jobcast.db': '600', 'jobcast.lock': '600' })
})

test('a data folder that others can read is closed to them at start', withModes, async (t) => {
  const folder = join(temporaryFolder(t), 'data')
  mkdirSync(folder)
  // The log stays behind after a crash.
  const before = openDatabase(join(folder, 'jobcast.db'))
  t.after(() => before.close())
  const others = ['admin-key', 'audit-key.pem', 'secrets-key', 'simulated-devices.json']
  for (const name of others) writeFileSync(join(folder, name), '')
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o664)
  chmodSync(folder, 0o775)
  await openIn(t, folder)
  assert.deepEqual(modesIn(folder), {
    '.': '700',
    ...Object.fromEntries(others.map((name) => [name, '600'])),
    ...closedFiles,
  })
})

test('a folder with files of others keeps its mode, and only our files are closed', withModes, async (t) => {
  const folder = join(temporaryFolder(t), 'shared')
  mkdirSync(folder)
  writeFileSync(join(folder, 'notes.txt'), '')
  for (const [name, mode] of [['notes.txt', 0o644] as const, ['.', 0o755] as const])
    chmodSync(join(folder, name), mode)
  await openIn(t, folder)
  assert.deepEqual(modesIn(folder), { '.': '755', 'notes.txt': '644', ...closedFiles })
})

test('a file that is not a database is refused with a sentence', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'jobcast.db')
  writeFileSync(path, 'not a database, but longer than a header would be: '.repeat(40))
  const message =
    `The database at ${path} cannot be opened: file is not a database. ` +
    'Check the file, its permissions and the disk, or restore a backup.'
  assert.throws(() => openSqliteStore({ folder, onLost: assert.ifError }), new StartRefused(message))
})

test('a job in a run stays the version it was triggered with', async (t) => {
  const { folder, store } = await openStore(t)
  const { ownerNo, trigger } = await seedOwner(store)
  const put = (description: string) => {
    const content = { ...emptyContent, description }
    return store.putJob({ ownerNo, jobName: 'restart', content, at: 1 })
  }
  const runs: number[] = []
  for (const description of ['one', 'one', 'two', 'one']) {
    await put(description)
    runs.push((await createOne(store, trigger(['d1']))).runId)
  }
  await store.deleteJob({ ownerNo, jobName: 'restart', at: 2 })
  const db = openReader(join(folder, 'jobcast.db'))
  const versions = db
    .prepare('SELECT content FROM run JOIN job_version USING (version_no) ORDER BY run_id')
    .all()
    .map((row) => JSON.parse(String(row.content)).description)
  assert.deepEqual(versions, ['one', 'one', 'two', 'one'])
  assert.equal(db.prepare('SELECT count(DISTINCT version_no) AS n FROM run').get()?.n, 3)
  db.close()
})

chaosTest('what a crash has left of large runs keeps nobody from starting on a full disk', async (t) => {
  const { folder, store } = await openStore(t)
  const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2'] })
  await store.close()
  const db = openDatabase(join(folder, 'jobcast.db'))
  // So many that what is written instead of them does not fit into the pages that there are.
  db.exec(`UPDATE last_id SET run_id = 5000, execution_id = 10000;
    WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 5000)
    INSERT INTO run_draft SELECT id, 1, id * 2, 2, 0, 1 FROM ids;
    PRAGMA max_page_count = 1`)
  const left = () => db.prepare('SELECT count(*) AS count FROM run_draft').get()?.count
  assert.throws(() => db.exec('CREATE TABLE more (a)'), /full/)
  dropDrafts(db)
  assert.equal(left(), 5000)
  // There is room again while it runs.
  db.exec('PRAGMA max_page_count = 1000000')
  const writes = prepareWrites(db, undefined, { hasWaiters: () => true, batchSize: 1 })
  const clocks = { expireAt: null, deadlineAt: null, clock: steadyInstant(1) }
  const run = {
    runId: 5001,
    ownerNo,
    jobNo: 1,
    jobVersion: 1,
    launchedAt: startedAt,
    keyId: 'k',
    retryOf: null,
    audit: '{}',
  }
  const rest = { firstExecutionId: 10_001, total: 2, idempotency: null, actor: 'key k' }
  const progress = await writes.writeRun({ ...run, ...clocks, ...rest, deviceNos: Int32Array.of(1, 2) })
  assert.equal(progress.kind, 'unfinished')
  while (await writes.eraseLeftovers(undefined));
  assert.equal(left(), 1)
  db.close()
})

test('what a crash has left of a large run is not seen, and is erased', async (t) => {
  const { folder, store } = await openStore(t)
  const { ownerNo, trigger } = await seedOwner(store, { devices: ['d1', 'd2'] })
  await createOne(store, trigger(['d1']))
  await store.close()
  const db = openDatabase(join(folder, 'jobcast.db'))
  db.exec(`UPDATE last_id SET run_id = 2, execution_id = 3;
    INSERT INTO run_draft VALUES (2, ${ownerNo}, 2, 2, 0, 1);
    INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number)
    VALUES (2, 2, ${ownerNo}, 1, 'PENDING', 1, 1)`)
  db.close()
  const again = openSqliteStore({ folder, onLost: assert.ifError })
  t.after(() => again.close())
  assert.equal((await readQueue(again, { ownerNo, deviceId: 'd1' })).total, 1)
  while (await again.eraseLeftovers());
  const { firstExecutionId } = await createOne(again, trigger(['d2']))
  assert.equal(firstExecutionId, 4)
  await again.close()
  const after = openReader(join(folder, 'jobcast.db'))
  const ids = after.prepare('SELECT execution_id AS id FROM execution ORDER BY id').all()
  assert.deepEqual(
    ids.map(({ id }) => id),
    [1, 4],
  )
  assert.equal(after.prepare('SELECT count(*) AS count FROM run_draft').get()?.count, 0)
  after.close()
})
