// A backup while a service writes, and a service that starts from it.

import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { type SpawnedServer, spawnServer } from '@jobcast/testkit/spawn-server'
import { dataFolder, runJobcast } from './run-jobcast.ts'

/** Triggers repeatedly until stopped; collects the acknowledged ids. */
function triggerOn(server: SpawnedServer) {
  const answered: number[] = []
  let isOver = false
  const some = Promise.withResolvers<void>()
  const caller = async () => {
    while (!isOver) {
      const reply = await server.trigger('restart', ['d1', 'd2'])
      assert.equal(reply.status, 201, reply.text)
      answered.push(...reply.json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId))
      if (answered.length >= 200) some.resolve()
    }
  }
  const callers = Promise.all([caller(), caller()])
  callers.catch(some.reject)
  return {
    answered,
    some: some.promise,
    async stop() {
      isOver = true
      await callers
    },
  }
}

test('a backup taken during triggers has everything acknowledged before it, and a service starts from it', async (t) => {
  const data = join(dataFolder(t), 'data')
  const server = await spawnServer(data)
  t.after(() => server.end('SIGKILL'))
  await server.putJobAndDevices('restart', ['d1', 'd2'])
  const triggers = triggerOn(server)
  await triggers.some

  const before = [...triggers.answered]
  const file = join(dataFolder(t), 'backup.db')
  const backup = await runJobcast(['backup', '--data', data, '--to', file, '--json'])
  assert.equal(backup.code, 0, backup.stderr)
  assert.equal(JSON.parse(backup.stdout).bytes, statSync(file).size)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await triggers.stop()
  // The service was not disturbed: it responded meanwhile, and still does.
  assert.ok(triggers.answered.length > before.length)
  assert.equal((await server.call('GET', '/readyz')).status, 200)
  assert.equal((await server.end('SIGTERM')).code, 0)

  // As in docs/operations.md: a folder that contains the copy, under the name of the database, and the keys.
  const restored = join(dataFolder(t), 'restored')
  mkdirSync(restored, { mode: 0o700 })
  copyFileSync(file, join(restored, 'jobcast.db'))
  copyFileSync(join(data, 'audit-key.pem'), join(restored, 'audit-key.pem'))
  const second = await openServer(t, { dataFolder: restored })
  const found = new Set<number>()
  let cursor: string | null = ''
  do {
    const reply = await second.call('GET', `/job/api/executions?limit=200${cursor && `&cursor=${cursor}`}`, {
      key: server.adminKey,
    })
    assert.equal(reply.status, 200, reply.text)
    for (const { jobExecutionId } of reply.json.items) found.add(jobExecutionId)
    cursor = reply.json.nextCursor
  } while (cursor !== null)
  assert.deepEqual(
    before.filter((id) => !found.has(id)),
    [],
  )
  // Ids keep growing after a restore.
  const next = await second.trigger('restart', ['d1'], { key: server.adminKey })
  assert.ok(next.json[0].jobExecutionId > Math.max(...found), next.text)
})

test('a service does not start on a copy of a database with secrets without their key', async (t) => {
  const first = await openServer(t, { dataFolder: join(dataFolder(t), 'data'), secretsKeys: [] })
  const put = await first.call('PUT', '/job/api/secrets/token', { body: { value: 'a-secret-value' } })
  assert.equal(put.status, 201, put.text)
  await first.server.stop()
  const copy = join(dataFolder(t), 'copy')
  cpSync(first.folder, copy, { recursive: true })
  rmSync(join(copy, 'secrets-key'))
  await assert.rejects(
    openServer(t, { dataFolder: copy, secretsKeys: [] }),
    /copy.secrets-key is missing: .*secrets new-key/,
  )
  assert.ok(!existsSync(join(copy, 'secrets-key')))
  const examined = await runJobcast(['doctor', '--data', copy])
  assert.match(examined.stdout, /! keys +secrets-key missing in .*copy/)

  copyFileSync(join(first.folder, 'secrets-key'), join(copy, 'secrets-key'))
  await openServer(t, { dataFolder: copy, secretsKeys: [] })
  const again = await runJobcast(['doctor', '--data', copy])
  assert.match(again.stdout, /✓ keys /)
})

test('a backup overwrites nothing, leaves no partial file, and names what is missing', async (t) => {
  const data = join(dataFolder(t), 'data')
  const { server } = await openServer(t, { dataFolder: data })
  await server.stop()
  const folder = dataFolder(t)
  const file = join(folder, 'backup.db')
  const backup = (...args: string[]) => runJobcast(['backup', ...args])
  // Also while the service is stopped.
  assert.equal((await backup('--data', data, '--to', file)).code, 0)
  const again = await backup('--data', data, '--to', file)
  assert.equal(again.code, 2)
  assert.match(again.stderr, /already exists; a backup does not overwrite files/)
  assert.deepEqual(readdirSync(folder), ['backup.db'])
  assert.equal((await backup('--data', folder, '--to', join(folder, 'x.db'))).code, 2)
  assert.equal((await backup('--data', data, '--to', join(folder, 'no', 'x.db'))).code, 2)
  assert.equal((await backup('--data', data)).code, 2)

  const broken = join(dataFolder(t), 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'jobcast.db'), 'not a database, but long enough to look like one. '.repeat(100))
  const none = await backup('--data', broken, '--to', join(folder, 'none.db'))
  assert.equal(none.code, 8)
  assert.match(none.stderr, /no backup was written: file is not a database/)
  assert.equal(existsSync(join(folder, 'none.db')), false)
  assert.deepEqual(readdirSync(folder), ['backup.db'])
})
