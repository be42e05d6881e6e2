// A full and a failing disk. The slow one is in slow-disk.test.ts.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Reply } from '@jobcast/testkit/call-api'
import { newDevice } from '@jobcast/testkit/call-device'
import { disturbDisk } from '@jobcast/testkit/disturb-disk'
import { EventListener } from '@jobcast/testkit/event-listener'
import { type SpawnedServer, type SpawnOptions, startProgram } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter, temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'

const deviceIds = deviceIdsUpTo(1000)

function assertUnavailable(reply: Reply): void {
  assert.equal(reply.text, '{"code":"J-909","message":"Storage is not available","status":503}')
  assert.equal(reply.status, 503)
  assert.ok(Number(reply.headers.get('retry-after')) > 0)
}

/** What was found is good for a moment, so that it may take that long to answer so. */
async function waitForReadiness(server: SpawnedServer, status: number): Promise<Reply> {
  let reply = await server.call('GET', '/readyz')
  const isSo = async () => {
    if (reply.status !== status) reply = await server.call('GET', '/readyz')
    return reply.status === status
  }
  await waitUntil(`/readyz answers ${status}`, isSo, { intervalMs: 50 })
  return reply
}

async function countRuns(server: SpawnedServer): Promise<number> {
  let count = 0
  for (let cursor = ''; ; ) {
    const { json } = await server.call('GET', `/job/api/runs?limit=200${cursor}`)
    count += json.items.length
    if (!json.nextCursor) return count
    cursor = `&cursor=${json.nextCursor}`
  }
}

/** While nothing can be written: writes and readiness say so, everything else continues. */
async function assertReadsOnly(server: SpawnedServer, runs: number): Promise<void> {
  const writes: [string, string, object?][] = [
    ['POST', '/job/api/jobs/execute', { jobName: 'restart', deviceIds: ['device-1', 'device-2'] }],
    ['PUT', '/job/api/devices/device-1', { deviceName: 'new name' }],
    ['PUT', '/job/api/devices/new', {}],
    ['DELETE', '/job/api/devices/device-3'],
    ['PUT', '/job/api/jobs/restart', { description: 'new' }],
    ['DELETE', '/job/api/jobs/restart?force=true'],
    ['POST', '/job/api/devices/device-1/credential'],
    ['POST', '/job/api/keys', { keyName: 'new' }],
  ]
  for (const [method, path, body] of [...writes, ...writes]) {
    assertUnavailable(await server.call(method, path, body ? { body } : {}))
  }
  assertUnavailable(await waitForReadiness(server, 503))
  assert.equal(await countRuns(server), runs)
  for (const path of [
    '/livez',
    '/job/api/jobs/restart',
    '/job/api/devices/device-1',
    '/job/api/devices/device-3',
  ]) {
    assert.equal((await server.call('GET', path)).status, 200, path)
  }
  assert.equal((await server.call('GET', '/job/api/devices/device-1')).json.deviceName, 'device-1')
  assert.equal((await server.call('GET', '/job/api/devices/new')).status, 404)
}

/** Everything works again: what was refused is not there, what was asked to go is still there. */
async function assertWritesAgain(server: SpawnedServer, runs: number): Promise<void> {
  await waitForReadiness(server, 200)
  assert.equal((await server.trigger('restart', ['device-3', 'device-1'])).status, 201)
  assert.equal((await server.trigger('restart', ['new'])).status, 404)
  assert.equal((await server.call('DELETE', '/job/api/devices/device-3')).status, 204)
  assert.equal(await countRuns(server), runs + 1)
  assert.equal((await server.call('PUT', '/job/api/devices/device-3', { body: {} })).status, 201)
}

function assertSound(folder: string): void {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true })
  assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
  const halves = db.prepare(`
    SELECT count(*) AS n FROM run
    WHERE total <> (SELECT count(*) FROM execution WHERE execution.run_id = run.run_id)`)
  assert.equal(halves.get()?.n, 0)
  db.close()
}

const onUnix = { skip: process.platform === 'win32' && 'there is no limit of file sizes on Windows' }
const limitTo = (blocks: number) => ['sh', '-c', `ulimit -S -f ${blocks}; exec "$@"`, 'sh']
const noLimit = (server: SpawnedServer) =>
  spawnSync('prlimit', ['--pid', String(server.pid), '--fsize=unlimited']).status === 0

const faults: [string, Record<string, string>][] = [
  ['has no space left', { pwrite64: 'error=ENOSPC' }],
  ['cannot be written', { pwrite64: 'error=EIO' }],
  ['cannot be synced', { fsync: 'error=EIO', fdatasync: 'error=EIO' }],
]

test('one disk after the other', onUnix, async (t) => {
  const folder = newTemporaryFolder()
  await seedData(folder, { jobs: ['restart'], deviceIds })
  const start = async (options: SpawnOptions = {}) => {
    const program = startProgram(folder, options)
    t.after(() => program.end('SIGKILL'))
    return program.ready
  }
  // 5 MiB in blocks of 512 bytes. Node ignores SIGXFSZ, so that SQLite gets an error instead.
  let server = await start({ before: limitTo(10240) })
  removeAfter(t, folder)
  let runs = 0

  await t.test(
    'when no file can grow, writes return J-909, reads continue, and writes work once they can',
    async (t) => {
      let reply = await server.trigger('restart', deviceIds)
      for (; reply.status === 201; runs++) reply = await server.trigger('restart', deviceIds)
      assertUnavailable(reply)
      // A smaller write may still find room, until not even the smallest does.
      do reply = await server.call('PUT', '/job/api/devices/device-9', { body: {} })
      while (reply.status === 200)
      await assertReadsOnly(server, runs)
      const metrics = await server.call('GET', '/metrics')
      assert.match(metrics.text, /^jobcast_storage_unavailable_total [1-9]/m)
      assert.match(metrics.text, /^jobcast_http_failures_total 0$/m)
      assert.equal(server.process.exitCode, null)
      if (!noLimit(server)) {
        t.diagnostic('prlimit is not there: the space comes back with a restart')
        assert.equal((await server.end('SIGTERM')).code, 0)
        server = await start()
      }
      await assertWritesAgain(server, runs++)
    },
  )

  for (const [trouble, calls] of faults) {
    await t.test(
      `when it ${trouble}, writes return J-909, reads continue, and writes work afterwards`,
      async (t) => {
        const disk = await disturbDisk(server.pid, calls)
        if (typeof disk === 'string') return t.skip(disk)
        await assertReadsOnly(server, runs)
        await disk.end()
        await assertWritesAgain(server, runs++)
      },
    )
  }

  await t.test(
    'a call that answered J-909 because of a failed sync does not come back with a crash',
    async (t) => {
      const device = await newDevice(server, 'device-2')
      await device.call('GET', '')
      assert.equal(await isOnline(server), true)
      // Twice: then there is much in the log of the database, also if it started over meanwhile.
      for (let more = 0; more < 2; more++, runs++)
        assert.equal((await server.trigger('restart', deviceIds)).status, 201)
      const disk = await disturbDisk(server.pid, { fsync: 'error=EIO', fdatasync: 'error=EIO' })
      if (typeof disk === 'string') t.diagnostic(disk)
      else assertUnavailable(await server.trigger('restart', deviceIds.slice(0, 100)))
      await server.end('SIGKILL')
      if (typeof disk !== 'string') await disk.end()
      // Whoever opens the files cleans up what the crash has left, and the next start is to find it.
      const copy = temporaryFolder(t)
      cpSync(folder, copy, { recursive: true })
      assertSound(copy)
      const db = new DatabaseSync(join(copy, 'jobcast.db'))
      assert.equal(db.prepare('SELECT count(*) AS n FROM run').get()?.n, runs)
      db.close()
    },
  )

  await t.test(
    'it starts on a full disk after a crash: reads continue, and pending writes follow',
    async (t) => {
      // As good as full: nothing can be written behind the first 40 KiB of a file; database and log have more.
      server = await start({ before: limitTo(80) })
      await assertReadsOnly(server, runs)
      assert.equal(await isOnline(server), true, 'this is recorded as soon as it can be')
      if (!noLimit(server)) return t.diagnostic('prlimit is not there')
      await assertWritesAgain(server, runs)
      await waitUntil('the device is offline', async () => !(await isOnline(server)))
      const events = await EventListener.open(server.http, server.adminKey, {
        query: '?after=0&types=device.offline',
      })
      await events.until(() => events.events.length === 1)
      events.close()
    },
  )
  assert.equal((await server.end('SIGTERM')).code, 0)
  assertSound(folder)
})

async function isOnline(api: SpawnedServer): Promise<boolean> {
  return (await api.call('GET', '/job/api/devices/device-2')).json.online
}
