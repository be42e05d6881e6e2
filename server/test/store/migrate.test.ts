import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { sqliteSchemaFile, sqliteSchemaText } from '../../generate/generate.ts'
import { type Migration, pendingMigrations, readMigrations, StartRefused } from '../../src/store/migrate.ts'
import { migrateDatabase, openDatabase } from '../../src/store/sqlite/database.ts'
import { openSqliteStore, sqliteMigrations } from '../../src/store/sqlite/sqlite-store.ts'

const first: Migration = { number: 1, name: 'first', sql: 'CREATE TABLE one (a); INSERT INTO one VALUES (7)' }
const second: Migration = { number: 2, name: 'second', sql: 'CREATE TABLE two (a); DELETE FROM one' }
const broken: Migration = {
  number: 3,
  name: 'broken',
  sql: 'CREATE TABLE three (a); INSERT INTO one VALUES (8); INSERT INTO nowhere VALUES (1)',
}

function openMemory(): DatabaseSync {
  return new DatabaseSync(':memory:')
}

function stateOf(db: DatabaseSync) {
  return {
    version: db.prepare('PRAGMA user_version').get()?.user_version,
    tables: db
      .prepare('SELECT name FROM sqlite_schema ORDER BY name')
      .all()
      .map((row) => row.name),
    isTransaction: db.isTransaction,
  }
}

test('a fresh database gets all migrations, one that has them gets nothing', () => {
  const db = openMemory()
  migrateDatabase(db, [first, second])
  const migrated = { version: 2, tables: ['one', 'two'], isTransaction: false }
  assert.deepEqual(stateOf(db), migrated)
  db.exec('INSERT INTO one VALUES (9)')
  migrateDatabase(db, [first, second])
  assert.deepEqual(stateOf(db), migrated)
  assert.deepEqual(
    db
      .prepare('SELECT a FROM one')
      .all()
      .map((row) => row.a),
    [9],
  )
})

test('a database gets only the migrations it has not had', () => {
  const db = openMemory()
  migrateDatabase(db, [first])
  assert.deepEqual(stateOf(db), { version: 1, tables: ['one'], isTransaction: false })
  migrateDatabase(db, [first, second])
  assert.deepEqual(stateOf(db), { version: 2, tables: ['one', 'two'], isTransaction: false })
})

test('a migration that fails leaves the database as the one before it did', () => {
  const db = openMemory()
  assert.throws(() => migrateDatabase(db, [first, second, broken]), /nowhere/)
  assert.deepEqual(stateOf(db), { version: 2, tables: ['one', 'two'], isTransaction: false })
  assert.deepEqual(db.prepare('SELECT a FROM one').all(), [])
  migrateDatabase(db, [first, second, { ...broken, sql: 'CREATE TABLE three (a)' }])
  assert.equal(stateOf(db).version, 3)
})

test('a schema from a newer program is refused with a sentence, and the database is left alone', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'jobcast.db')
  const db = new DatabaseSync(path)
  db.exec('PRAGMA user_version = 99')
  db.close()
  const known = sqliteMigrations().length
  const open = () => openSqliteStore({ folder, onLost: assert.ifError })
  const message =
    `The database has schema 99, this program knows schemas up to ${known}. It was written by a newer ` +
    'Jobcast: start that version, or restore a backup from before the upgrade.'
  // Twice: the first refusal must not keep the folder locked.
  assert.throws(open, new StartRefused(message))
  assert.throws(open, new StartRefused(message))
  const after = new DatabaseSync(path)
  assert.deepEqual(stateOf(after), { version: 99, tables: [], isTransaction: false })
  after.close()
})

test('pending migrations are those after the applied ones', () => {
  assert.deepEqual(pendingMigrations([first, second], 0), [first, second])
  assert.deepEqual(pendingMigrations([first, second], 1), [second])
  assert.deepEqual(pendingMigrations([first, second], 2), [])
  assert.throws(() => pendingMigrations([first, second], 3), StartRefused)
})

test('migrations are numbered without a gap and named', () => {
  const migrations = readMigrations(new URL('../../src/store/sqlite/migrations/', import.meta.url))
  assert.ok(migrations.length > 0)
  for (const [index, { number, name, sql }] of migrations.entries()) {
    assert.equal(number, index + 1)
    assert.match(name, /^[a-z]+(-[a-z]+)+$/)
    assert.ok(sql.length > 0)
  }
})

test('schema.sql is what the migrations make; "npm run generate" writes it', () => {
  assert.equal(readFileSync(sqliteSchemaFile, 'utf8'), sqliteSchemaText())
})

test('what the migrations make is the same on a file as in memory', (t) => {
  const db = openDatabase(join(temporaryFolder(t), 'jobcast.db'))
  migrateDatabase(db, sqliteMigrations())
  const ours = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
  const statements = db.prepare(ours).all()
  for (const { sql } of statements) assert.ok(sqliteSchemaText().includes(String(sql)))
  db.close()
})

test('runs that ended before retention came know when they did', () => {
  const db = openMemory()
  const all = sqliteMigrations()
  const at = all.findIndex(({ name }) => name === 'add-retention')
  migrateDatabase(db, all.slice(0, at))
  db.exec(`
    INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending, succeeded)
    VALUES (1, 1, 1, 1, 5, 1, 2, 0, 2), (2, 1, 1, 1, 6, 3, 1, 1, 0);
    INSERT INTO execution (execution_id, run_id, owner_no, device_no, state, attempt, version_number, finished_at)
    VALUES (1, 1, 1, 1, 'SUCCEEDED', 1, 2, 70), (2, 1, 1, 2, 'SUCCEEDED', 1, 2, 60), (3, 2, 1, 1, 'PENDING', 1, 1, NULL)`)
  migrateDatabase(db, all)
  const ended = db.prepare('SELECT ended_at FROM run ORDER BY run_id').all()
  assert.deepEqual(
    ended.map((row) => row.ended_at),
    [70, null],
  )
})

test('versions of jobs from before they had numbers have one, their content and their time', () => {
  const db = openMemory()
  const all = sqliteMigrations()
  migrateDatabase(db, all.slice(0, 12))
  db.exec(`
    INSERT INTO owner (owner_no, owner_id, owner_name, created_at) VALUES (1, 'o', 'o', 1);
    INSERT INTO job (job_no, owner_no, job_name, version_no, created_at, updated_at) VALUES
      (1, 1, 'a', 5, 100, 500), (2, 1, 'b', 3, 200, 200);
    INSERT INTO job_version (version_no, job_no, content) VALUES
      (1, 1, '{"n":1}'), (2, 1, '{"n":2}'), (3, 2, '{"n":3}'), (5, 1, '{"n":5}');
    INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending)
      VALUES (1, 1, 1, 2, 300, 1, 1, 1), (2, 1, 1, 2, 310, 2, 1, 1);
  `)
  migrateDatabase(db, all)
  const read = 'SELECT job_no, version, created_at, content FROM job_version ORDER BY version_no'
  const rows = () =>
    db
      .prepare(read)
      .all()
      .map((row) => Object.values(row))
  assert.deepEqual(rows(), [
    [1, 1, 100, '{"n":1}'],
    [1, 2, 300, '{"n":2}'],
    [2, 1, 200, '{"n":3}'],
    [1, 3, 500, '{"n":5}'],
  ])
  db.exec(`INSERT INTO job_version (job_no, content, created_at) VALUES (1, '{"n":6}', 600)`)
  assert.deepEqual(rows().at(-1), [1, 4, 600, '{"n":6}'])
  db.close()
})

test('who was signed in before sessions had owners stays signed in, and counts as active now', () => {
  const db = openMemory()
  const all = sqliteMigrations()
  const at = all.findIndex(({ name }) => name === 'key-makers')
  migrateDatabase(db, all.slice(0, at))
  db.exec(`
    INSERT INTO owner (owner_no, owner_id, owner_name, created_at) VALUES (7, 'ow_7', 'seven', 1);
    INSERT INTO api_key (key_id, owner_no, key_name, secret_hash, scopes, created_at) VALUES ('k', 7, 'k', x'00', '["ADMIN"]', 1);
    INSERT INTO session VALUES ('s', 'session', 'k', x'01', 99), ('of nobody', 'session', 'gone', x'02', 99)`)
  const before = Date.now() - 1000
  migrateDatabase(db, all)
  const sessions = db.prepare('SELECT * FROM session').all()
  assert.deepEqual(
    sessions.map(({ session_id, key_id, owner_no, expires_at }) => [
      session_id,
      key_id,
      owner_no,
      expires_at,
    ]),
    [['s', 'k', 7, 99]],
  )
  assert.ok(Number(sessions[0]?.last_used_at) >= before)
  assert.deepEqual(
    db
      .prepare('SELECT created_by FROM api_key')
      .all()
      .map((row) => row.created_by),
    [null],
  )
})
