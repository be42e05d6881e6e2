// What a commit means on PostgreSQL depends on how the server is set up, and on the schema being ours.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import { StartRefused } from '../../src/store/migrate.ts'
import { openPostgresStore, postgresMigrations } from '../../src/store/postgres/postgres-store.ts'
import { createOne, seedOwner } from './store-under-test.ts'

const server = await sharedPostgres()

test('several nodes may start at once on an empty database', async (t) => {
  const url = await createDatabase(server)
  await execute(url, 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public')
  const nodes = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore({ url })))
  t.after(() => Promise.all(nodes.map((node) => node.close())))
  const [applied] = await execute(url, 'SELECT count(*)::int AS count FROM schema_migration')
  assert.equal(applied?.count, postgresMigrations().length)
  const owners = await Promise.all(nodes.map((node) => seedOwner(node)))
  for (const [index, { trigger }] of owners.entries()) {
    const node = nodes[(index + 1) % nodes.length]
    assert.ok(node && (await createOne(node, trigger(['d1']))))
  }
})

test('a database of a newer program is refused with a sentence', async () => {
  const url = await createDatabase(server)
  await execute(url, "INSERT INTO schema_migration (number, name) VALUES (99, 'from-the-future')")
  await assert.rejects(openPostgresStore({ url }), (error) => {
    assert.ok(error instanceof StartRefused)
    const known = postgresMigrations().length
    assert.ok(
      error.message.startsWith(`The database has schema 99; this program supports schemas up to ${known}.`),
    )
    return true
  })
})

test('a wrong password and a database that is not there are refused with a sentence', async () => {
  const url = await createDatabase(server)
  for (const bad of [url.replace('test:test', 'test:wrong'), url.replace(/[^/]+$/, 'nowhere')]) {
    await assert.rejects(openPostgresStore({ url: bad }), (error) => {
      assert.ok(error instanceof StartRefused, String(error))
      assert.match(error.message, /^PostgreSQL refuses the connection: /)
      return true
    })
  }
})

test('a server that is not reachable yet is not a refusal', async () => {
  const url = (await createDatabase(server)).replace(/:\d+\//, ':1/')
  await assert.rejects(openPostgresStore({ url }), StorageUnavailable)
})

test('a database whose commits do not wait for the disk is used with commits that do', async (t) => {
  const url = await createDatabase(server)
  const name = new URL(url).pathname.slice(1)
  await execute(url, `ALTER DATABASE ${name} SET synchronous_commit = off`)
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  // What a connection was started with is what its transactions go by.
  await execute(
    url,
    'CREATE TABLE seen (value text)',
    `CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END$$`,
    'CREATE TRIGGER see AFTER INSERT OR UPDATE ON commit_marker FOR EACH ROW EXECUTE FUNCTION see()',
  )
  await store.checkHealth()
  assert.deepEqual(await execute(url, 'SELECT value FROM seen'), [{ value: 'on' }])
})

test('a read-only database is unavailable for writes and available for reads', async (t) => {
  const url = await createDatabase(server)
  const name = new URL(url).pathname.slice(1)
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const { ownerId, trigger } = await seedOwner(store)
  await execute(
    url,
    `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
  )
  const attempts = Array.from({ length: 12 }, () => store.createExecutions([trigger(['d1'])]))
  for (const { status, reason } of (await Promise.allSettled(attempts)) as PromiseRejectedResult[]) {
    assert.equal(status, 'rejected')
    assert.ok(reason instanceof StorageUnavailable, String(reason))
  }
  await assert.rejects(store.checkHealth(), StorageUnavailable)
  // The first reads may still meet connections that were cut.
  let found: unknown
  for (let tries = 0; found === undefined && tries < 10; tries++) {
    found = await store
      .findOwner({ ownerId })
      .catch((error) => assert.ok(error instanceof StorageUnavailable))
  }
  assert.ok(found)
})
