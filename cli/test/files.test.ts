// jobcast files: put, ls, get and rm.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }
const jobcast = (...args: string[]) => runJobcast(args, access)

test('puts, lists, fetches and deletes versions of a file', async (t) => {
  const folder = dataFolder(t)
  const [given, fetched] = [join(folder, 'app.bin'), join(folder, 'fetched.bin')]
  const content = randomBytes(100_000)
  writeFileSync(given, content)
  const created = await jobcast('files', 'put', 'app', '1.4', given)
  assert.equal(created.code, 0, created.stderr)
  assert.match(created.stderr, /^Created file app, version 1\.4: 100000 bytes, sha256 [0-9a-f]{64}\.$/m)
  assert.match((await jobcast('files', 'put', 'app', '1.4', given)).stderr, /^Unchanged: file app/m)
  writeFileSync(given, 'another')
  const other = await jobcast('files', 'put', 'app', '1.4', given)
  assert.notEqual(other.code, 0)
  assert.match(other.stderr, /J-320/)
  await jobcast('files', 'put', 'app', '1.5', given)
  assert.match((await jobcast('files')).stdout, /^FILE +VERSION +SIZE [^\n]+\napp +1\.5 +7 [^\n]+\n$/)
  assert.match((await jobcast('files', 'ls', 'app')).stdout, /\napp +1\.5 [^\n]+\napp +1\.4 +100000 /)
  const got = await jobcast('files', 'get', 'app', '1.4', '--file', fetched)
  assert.equal(got.code, 0, got.stderr)
  assert.deepEqual(readFileSync(fetched), content)
  assert.equal((await jobcast('files', 'rm', 'app', '1.4', '--yes')).code, 0)
  const gone = await jobcast('files', 'get', 'app', '1.4', '--file', join(folder, 'none'))
  assert.equal(gone.code, 4)
  assert.match(gone.stderr, /J-319/)
  assert.equal(existsSync(join(folder, 'none.part')), false)
})

test('a large file is sent over a connection that breaks; --no-resume sends it in one request', async (t) => {
  const proxy = await openCuttingProxy(t, server.http)
  const access = { JOBCAST_URL: proxy.url, JOBCAST_API_KEY: server.adminKey }
  const given = join(dataFolder(t), 'large.bin')
  const content = randomBytes(9 * 1024 * 1024)
  writeFileSync(given, content)
  // The answers to the first calls never arrive.
  proxy.cutNext(0, 0, 0)
  const put = await runJobcast(['files', 'put', 'large', '1', given], access)
  assert.equal(put.code, 0, put.stderr)
  assert.match(put.stderr, /^Created file large, version 1: 9437184 bytes/m)
  assert.ok(proxy.connections > 3)
  const whole = await jobcast('files', 'put', 'large', '2', given, '--no-resume')
  assert.match(whole.stderr, /^Created file large, version 2: 9437184 bytes/m)
})

test('a file that cannot be read is a usage error', async () => {
  const { code, stderr } = await jobcast('files', 'put', 'app', '2', '/nowhere/app.bin')
  assert.equal(code, 2)
  assert.match(stderr, /cannot read \/nowhere\/app\.bin/)
})
