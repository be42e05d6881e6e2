// A database of an unreleased version is refused with one sentence, and left byte for byte as it is.

import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { StartRefused } from '../../src/store/migrate.ts'
import {
  checkSchema,
  examineDatabase,
  exportStore,
  importStore,
  migrateStore,
  openStore,
  type StorePlace,
} from '../../src/store/open-store.ts'

const server = await sharedPostgres()

const attempts: Record<string, (place: StorePlace, file: string) => Promise<unknown>> = {
  check: checkSchema,
  migrate: migrateStore,
  start: (place) => openStore(place, assert.ifError),
  export: (place, file) => exportStore(place, file, '0.0.0'),
  import: (place, file) => importStore(place, file),
}

async function assertRefused(place: StorePlace, file: string, sentence: RegExp): Promise<void> {
  for (const [name, attempt] of Object.entries(attempts)) {
    await assert.rejects(attempt(place, file), (error) => {
      assert.ok(error instanceof StartRefused, `${name}: ${error}`)
      assert.match(error.message, sentence, name)
      return true
    })
  }
}

/** As they were: a log, tables of their own, a number, and no application_id. */
function makeOld(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  db.exec(`
    PRAGMA journal_mode = WAL;
    BEGIN;
    CREATE TABLE device (device_no INTEGER PRIMARY KEY, door TEXT) STRICT;
    INSERT INTO device VALUES (1, 'mqtt');
    PRAGMA user_version = 16;
    COMMIT`)
  return db
}

for (const isCrashed of [false, true]) {
  test(`SQLite: refused and unchanged, ${isCrashed ? 'with' : 'without'} a log left by a crash`, async (t) => {
    const [made, folder] = [join(temporaryFolder(t), 'made'), join(temporaryFolder(t), 'data')]
    mkdirSync(made)
    const db = makeOld(join(made, 'jobcast.db'))
    if (!isCrashed) db.close()
    cpSync(made, folder, { recursive: true })
    if (isCrashed) db.close()
    rmSync(join(folder, 'jobcast.db-shm'), { force: true })
    const bytes = () =>
      ['jobcast.db', 'jobcast.db-wal'].map((name) =>
        readdirSync(folder).includes(name) ? readFileSync(join(folder, name)).toString('hex') : '',
      )
    const before = bytes()
    assert.equal(before[1] !== '', isCrashed)
    const place = { dataFolder: folder, databaseUrl: undefined }
    const sentence =
      /^The database at .*jobcast\.db was created by an unreleased version of Jobcast and cannot be migrated\. Use that version for it, or start with an empty data folder \(--data\)\.$/
    await assertRefused(place, join(temporaryFolder(t), 'file.gz'), sentence)
    assert.deepEqual(bytes(), before)
  })
}

test('PostgreSQL: refused and unchanged, whichever migrations it has had', async (t) => {
  for (const names of [['create-tables'], ['create-tables', 'key-makers', 'add-quotas']]) {
    const url = await createDatabase(server)
    await execute(
      url,
      'DROP SCHEMA public CASCADE',
      'CREATE SCHEMA public',
      'CREATE TABLE schema_migration (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz)',
      'CREATE TABLE device (device_no integer PRIMARY KEY, door text)',
      "INSERT INTO device VALUES (1, 'mqtt')",
      ...names.map((name, at) => `INSERT INTO schema_migration VALUES (${at + 1}, '${name}')`),
    )
    const state = async () => [
      await execute(
        url,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
      ),
      await execute(url, 'SELECT xmin, ctid, * FROM schema_migration ORDER BY number'),
      await execute(url, 'SELECT xmin, ctid, * FROM device'),
    ]
    const before = await state()
    const sentence =
      /^The database was created by an unreleased version of Jobcast and cannot be migrated\. Use that version for it, or start with a new database \(CREATE DATABASE\)\.$/
    await assertRefused({ dataFolder: '', databaseUrl: url }, join(temporaryFolder(t), 'file.gz'), sentence)
    const { schema } = await examineDatabase(url)
    assert.ok('refused' in schema && sentence.test(schema.refused))
    assert.deepEqual(await state(), before)
  }
})
