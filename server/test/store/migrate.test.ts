import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { sqliteSchemaFile, sqliteSchemaText } from '../../generate/generate.ts'
import { type Migration, pendingMigrations, readMigrations, StartRefused } from '../../src/store/migrate.ts'
import { migrateDatabase, openDatabase } from '../../src/store/sqlite/database.ts'
import { applicationId } from '../../src/store/sqlite/schema-number.ts'
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
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 99`)
  db.close()
  const known = sqliteMigrations().length
  const open = () => openSqliteStore({ folder, onLost: assert.ifError })
  const message =
    `The database has schema 99; this program supports schemas up to ${known}. It was written by a newer ` +
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
