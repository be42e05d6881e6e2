// What a commit means on PostgreSQL depends on how the server is set up, and on the schema being ours.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import { StartRefused } from '../../src/store/migrate.ts'
import { migratePostgres } from '../../src/store/postgres/migrate-database.ts'
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
      error.message.startsWith(`The database has schema 99, this program knows schemas up to ${known}.`),
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

test('who was signed in before sessions had owners stays signed in, and counts as active now', async () => {
  const url = await createDatabase(server)
  await execute(url, 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public')
  const all = postgresMigrations()
  const at = all.findIndex(({ name }) => name === 'key-makers')
  await migratePostgres(url, all.slice(0, at))
  await execute(
    url,
    "INSERT INTO owner (owner_id, owner_name, created_at) VALUES ('ow_7', 'seven', 1)",
    `INSERT INTO api_key (key_id, owner_no, key_name, secret_hash, scopes, created_at)
     SELECT 'k', owner_no, 'k', '\\x00', '["ADMIN"]', 1 FROM owner`,
    "INSERT INTO session VALUES ('s', 'session', 'k', '\\x01', 99), ('of nobody', 'session', 'gone', '\\x02', 99)",
  )
  const before = Date.now() - 1000
  assert.equal((await migratePostgres(url, all)).from, at)
  const rows = await execute(
    url,
    'SELECT session_id, owner_id, expires_at::int, last_used_at::float8 FROM session JOIN owner USING (owner_no)',
  )
  assert.deepEqual(
    rows.map(({ session_id, owner_id, expires_at }) => [session_id, owner_id, expires_at]),
    [['s', 'ow_7', 99]],
  )
  assert.ok(Number(rows[0]?.last_used_at) >= before)
})

test('versions of jobs from before they had numbers have one, their content and their time', async (t) => {
  const url = await createDatabase(server)
  await execute(url, 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public')
  await migratePostgres(url, postgresMigrations().slice(0, 8))
  const own = 'OVERRIDING SYSTEM VALUE VALUES'
  const content = (n: number) => JSON.stringify({ description: `${n}`, document: { n } })
  await execute(
    url,
    `INSERT INTO owner (owner_no, owner_id, owner_name, created_at) ${own} (1, 'o', 'o', 1)`,
    `INSERT INTO job (job_no, owner_no, job_name, version_no, created_at, updated_at) ${own}
       (1, 1, 'a', 5, 100, 500), (2, 1, 'b', 3, 200, 200)`,
    `INSERT INTO job_version (version_no, job_no, content) ${own}
       (1, 1, '${content(1)}'), (2, 1, '${content(2)}'), (3, 2, '${content(3)}'), (5, 1, '${content(5)}')`,
    `INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending) VALUES
       (1, 1, 1, 2, 310, 1, 1, 1), (2, 1, 1, 2, 300, 2, 1, 1)`,
  )
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const versionsOf = async (jobName: string) => {
    const slice = { after: undefined, limit: 10 }
    const { items } = await store.listJobVersions({ ownerNo: 1, jobName, slice })
    return items.map(({ version, versionNo, createdAt, document }) => [
      version,
      versionNo,
      createdAt,
      document,
    ])
  }
  assert.deepEqual(await versionsOf('a'), [
    [3, 5, 500, { n: 5 }],
    [2, 2, 300, { n: 2 }],
    [1, 1, 100, { n: 1 }],
  ])
  assert.deepEqual(await versionsOf('b'), [[1, 3, 200, { n: 3 }]])
  // A node of the version before knows of no numbers.
  await execute(url, `INSERT INTO job_version (version_no, job_no, content) ${own} (9, 1, '${content(9)}')`)
  assert.deepEqual((await versionsOf('a'))[0], [4, 9, 500, { n: 9 }])
})
