// migrate, export and import, and a service that continues with the moved data.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const postgres = await sharedPostgres()

/** A service in this process. Another command finds its folder in use all the same. */
async function serve(t: TestContext, dataFolder: string, databaseUrl?: string, auditKeyFile?: string) {
  const service = await openServer(t, { dataFolder, databaseUrl, auditKeyFile })
  return { ...service, end: () => service.server.stop() }
}

async function emptyDatabase(): Promise<string> {
  const url = await createDatabase(postgres)
  await execute(url, 'DROP SCHEMA public CASCADE', 'CREATE SCHEMA public')
  return url
}

/** As a service leaves it that was ended before its first migration. */
function emptyFile(data: string): void {
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'jobcast.db'), '')
}

test('migrate migrates an embedded database; --check only checks it', async (t) => {
  const data = join(dataFolder(t), 'data')
  const check = () => runJobcast(['migrate', '--check', '--data', data])
  for (const more of [[], ['--check']]) {
    const { code, stdout, stderr } = await runJobcast(['migrate', ...more, '--data', data])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /^jobcast: There is no database \(jobcast\.db\) in .*data\.$/m)
  }
  assert.equal(existsSync(data), false)
  emptyFile(data)
  const before = await check()
  assert.equal(before.code, 6, before.stderr)
  assert.match(before.stdout, /^The database at .*data would be migrated from schema 0 to \d+\.$/m)
  const done = await runJobcast(['migrate', '--data', data])
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stdout, /was migrated from schema 0 to (\d+)\./)
  const { code, stdout } = await runJobcast(['migrate', '--check', '--json'], { JOBCAST_DATA: data })
  const { from, to, migrated } = JSON.parse(stdout)
  assert.deepEqual([code, from === to, migrated], [0, true, false])
  assert.match((await runJobcast(['migrate', '--data', data])).stdout, /is up to date \(schema \d+\)/)

  const server = await serve(t, data)
  assert.equal((await check()).code, 0)
  const refused = await runJobcast(['migrate', '--data', data])
  assert.deepEqual([refused.code, refused.stdout], [5, ''])
  assert.match(refused.stderr, /^jobcast: Another Jobcast is running on the data folder/)
  await server.end()
  const db = new DatabaseSync(join(data, 'jobcast.db'))
  db.exec('PRAGMA user_version = 99')
  db.close()
  const newer = await check()
  assert.equal(newer.code, 5)
  assert.match(newer.stderr, /^jobcast: The database has schema 99; .*newer Jobcast/)
})

test('migrate migrates PostgreSQL, also when several run at once', async () => {
  const url = await emptyDatabase()
  const env = { DATABASE_URL: url }
  const check = await runJobcast(['migrate', '--check'], env)
  assert.equal(check.code, 6, check.stderr)
  assert.match(
    check.stdout,
    /^The database at postgres:\/\/127\.0\.0\.1:\d+\/\w+ would be migrated from schema 0 to \d+\.$/m,
  )
  const [one, two] = await Promise.all([runJobcast(['migrate'], env), runJobcast(['migrate'], env)])
  assert.deepEqual([one.code, two.code], [0, 0], one.stderr + two.stderr)
  const said = [one, two].map(({ stdout }) => /up to date/.test(stdout))
  assert.deepEqual(said.sort(), [false, true], one.stdout + two.stdout)
  assert.equal((await runJobcast(['migrate', '--check'], env)).code, 0)
  const unreachable = await runJobcast(['migrate'], { DATABASE_URL: 'postgres://test:secret@127.0.0.1:1/x' })
  assert.equal(unreachable.code, 8)
  assert.doesNotMatch(unreachable.stderr, /secret|at .*\.ts:/)
  const wrong = await runJobcast(['migrate'], { DATABASE_URL: 'mysql://secret@x' })
  assert.deepEqual([wrong.code, /secret/.test(wrong.stderr)], [2, false])
})

test('a service moves to PostgreSQL and back, with its keys, ids and idempotent calls', async (t) => {
  const data = join(dataFolder(t), 'data')
  const url = await emptyDatabase()
  const file = join(dataFolder(t), 'move.jsonl.gz')
  const first = await serve(t, data)
  await first.putJobAndDevices('restart', ['d1', 'd2'])
  const headers = { 'idempotency-key': 'once' }
  const launched = await first.trigger('restart', ['d1', 'd2'], { headers })
  assert.equal(launched.status, 201, launched.text)
  const { adminKey } = first
  await first.end()

  const exported = await runJobcast(['export', file, '--data', data, '--json'])
  assert.equal(exported.code, 0, exported.stderr)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const kinds = JSON.parse(exported.stdout) as { kind: string; rows: number }[]
  assert.equal(kinds.find(({ kind }) => kind === 'execution')?.rows, 2)
  const imported = await runJobcast(['import', file], { DATABASE_URL: url })
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stdout, /^KIND +ROWS$/m)
  for (const kind of ['owners', 'API keys', 'windows', 'earlier device names', 'executions', 'deliveries'])
    assert.match(imported.stdout, new RegExp(`^${kind} +\\d+$`, 'm'))
  assert.match(imported.stdout, /^executions +2$/m)
  assert.match(
    imported.stderr,
    /^Imported into postgres:\/\/127\.0\.0\.1:\d+\/\w+; the row counts match the file\.$/m,
  )

  // On a slow machine the audit was sealed meanwhile, and its key does not move with the data.
  const auditKey = join(data, 'audit-key.pem')
  const second = await serve(t, join(dataFolder(t), 'unused'), url, auditKey)
  const call = { key: adminKey, headers }
  const repeated = await second.trigger('restart', ['d1', 'd2'], call)
  assert.deepEqual([repeated.status, repeated.text], [201, launched.text])
  const next = await second.trigger('restart', ['d1'], { key: adminKey })
  assert.ok(next.json[0].jobExecutionId > launched.json[1].jobExecutionId, next.text)
  await second.end()

  const back = join(dataFolder(t), 'back')
  assert.equal((await runJobcast(['export', `${file}.2`], { DATABASE_URL: url })).code, 0)
  // --data takes precedence over DATABASE_URL.
  const home = await runJobcast(['import', `${file}.2`, '--data', back], { DATABASE_URL: url })
  assert.equal(home.code, 0, home.stderr)
  const third = await serve(t, back, undefined, auditKey)
  const list = await third.call('GET', '/job/api/executions', { key: adminKey })
  assert.deepEqual(
    list.json.items.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId),
    [next, launched].flatMap(({ json }) =>
      json.map((each: { jobExecutionId: number }) => each.jobExecutionId).reverse(),
    ),
  )
})

test('export and import explain errors, and leave no partial files', async (t) => {
  const folder = dataFolder(t)
  const data = join(folder, 'data')
  const server = await serve(t, data)
  const file = join(folder, 'move.gz')
  // Also while the service is running.
  assert.equal((await runJobcast(['export', file, '--data', data])).code, 0)
  const again = await runJobcast(['export', file, '--data', data])
  assert.equal(again.code, 2)
  assert.match(again.stderr, /already exists; an export does not overwrite files/)
  assert.equal((await runJobcast(['export', join(folder, 'no', 'x.gz'), '--data', data])).code, 2)
  const nothing = await runJobcast(['export', join(folder, 'x.gz'), '--data', join(folder, 'nowhere')])
  assert.equal(nothing.code, 2)
  assert.match(nothing.stderr, /^jobcast: There is no database \(jobcast\.db\) in /)

  const inUse = await runJobcast(['import', file, '--data', data])
  assert.equal(inUse.code, 5)
  assert.match(inUse.stderr, /Another Jobcast is running/)
  await server.end()
  const full = await runJobcast(['import', file, '--data', data])
  assert.equal(full.code, 5)
  assert.match(full.stderr, /^jobcast: The database in .* is not empty: owner has rows\./)
  assert.equal((await runJobcast(['import', join(folder, 'none.gz'), '--data', join(folder, 'new')])).code, 2)
  const cut = join(folder, 'cut.gz')
  const whole = readFileSync(file)
  writeFileSync(cut, whole.subarray(0, whole.length / 2))
  const short = await runJobcast(['import', cut, '--data', join(folder, 'new')])
  assert.equal(short.code, 5)
  assert.match(short.stderr, /cut\.gz is cut short/)
  assert.equal((await runJobcast(['import', file, '--data', join(folder, 'new')])).code, 0)
  assert.deepEqual(readdirSync(folder).sort(), ['cut.gz', 'data', 'move.gz', 'new'])
})

test('backup refers to the tools of PostgreSQL, and copies the folder given by --data', async (t) => {
  const folder = dataFolder(t)
  const env = { DATABASE_URL: 'postgres://test:secret@127.0.0.1:1/x' }
  const refused = await runJobcast(['backup', '--to', join(folder, 'x.db')], env)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /pg_dump .*pg_basebackup/)
  assert.doesNotMatch(refused.stderr, /secret/)
  const wrong = await runJobcast(['backup', '--to', join(folder, 'x.db')], { DATABASE_URL: 'mysql://x' })
  assert.equal(wrong.code, 2, wrong.stderr)
  emptyFile(join(folder, 'data'))
  await runJobcast(['migrate', '--data', join(folder, 'data')])
  const copied = await runJobcast(
    ['backup', '--data', join(folder, 'data'), '--to', join(folder, 'x.db')],
    env,
  )
  assert.equal(copied.code, 0, copied.stderr)
})

test('doctor checks the database of DATABASE_URL', async () => {
  const examine = async (url: string) => {
    const { code, stdout, stderr } = await runJobcast(['doctor', '--json', '--url', 'http://127.0.0.1:1'], {
      DATABASE_URL: url,
    })
    assert.notEqual(stdout, '', stderr)
    assert.doesNotMatch(stdout, /:test@/)
    const { checks } = JSON.parse(stdout) as { checks: { check: string; mark: string; text: string }[] }
    return { code, of: (name: string) => checks.find(({ check }) => check === name) }
  }
  const url = await emptyDatabase()
  const empty = await examine(url)
  for (const check of ['database', 'postgres', 'encoding', 'durability', 'writable']) {
    assert.equal(empty.of(check)?.mark, 'ok', check)
  }
  assert.deepEqual(
    [empty.of('schema')?.mark, /^none yet/.test(empty.of('schema')?.text ?? '')],
    ['warning', true],
  )
  await runJobcast(['migrate'], { DATABASE_URL: url })
  const ready = await examine(url)
  assert.deepEqual([ready.of('schema')?.mark, ready.of('writable')?.mark], ['ok', 'ok'])
  await execute(
    url,
    "INSERT INTO schema_migration (number, name) VALUES (99, 'from-the-future')",
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`,
  )
  const bad = await examine(url)
  assert.deepEqual([bad.code, bad.of('schema')?.mark, bad.of('writable')?.mark], [5, 'problem', 'problem'])
  const unreachable = await examine('postgres://test:test@127.0.0.1:1/x')
  assert.deepEqual([unreachable.code, unreachable.of('database')?.mark], [8, 'problem'])
  const noAddress = await examine('mysql://x')
  assert.deepEqual([noAddress.code, noAddress.of('database')?.mark], [2, 'problem'])
})

test('keys reset-admin creates an ADMIN key while the service is stopped, only for eyes that were meant', async (t) => {
  const data = join(dataFolder(t), 'data')
  const reset = (...flags: string[]) => runJobcast(['keys', 'reset-admin', '--data', data, ...flags])
  const nothing = await reset('--print')
  assert.deepEqual([nothing.code, nothing.stdout], [2, ''])
  assert.match(nothing.stderr, /There is no database at /)
  const server = await serve(t, data)
  const busy = await reset('--print')
  assert.equal(busy.code, 5)
  assert.match(busy.stderr, /Another Jobcast is running/)
  await server.end()

  const unseen = await reset()
  assert.deepEqual([unseen.code, unseen.stdout], [2, ''])
  assert.match(unseen.stderr, /not a terminal/)
  const printed = await reset('--print')
  assert.equal(printed.code, 0, printed.stderr)
  const file = join(data, 'new-key')
  const written = await reset('--file', file)
  assert.deepEqual([written.code, written.stdout], [0, ''], written.stderr)
  assert.equal((await reset('--file', file)).code, 2)
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600)

  const again = await serve(t, data)
  for (const key of [printed.stdout.trim(), readFileSync(file, 'utf8').trim()]) {
    const { json } = await again.call('GET', '/job/api/keys/self', { key })
    assert.deepEqual(
      [json.scopes, json.createdBy],
      [['TRIGGER', 'READ', 'MANAGE', 'APPROVE', 'AUDIT', 'ADMIN'], 'operator'],
    )
  }
})

test('keys reset-admin works on PostgreSQL beside a running service', async (t) => {
  const env = { DATABASE_URL: await emptyDatabase() }
  const server = await serve(t, join(dataFolder(t), 'data'), env.DATABASE_URL)
  const { code, stdout, stderr } = await runJobcast(['keys', 'reset-admin', '--print', '--json'], env)
  assert.equal(code, 0, stderr)
  const { keyId, apiKey } = JSON.parse(stdout)
  const { json } = await server.call('GET', '/job/api/keys/self', { key: apiKey })
  assert.deepEqual([json.keyId, json.createdBy], [keyId, 'operator'])
})
