// jobcast audit: lists, exports and verifies, by our program and by the one in the docs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const script = fileURLToPath(new URL('../../docs/examples/verify_audit.py', import.meta.url))
const hasPython = spawnSync('python3', ['-c', 'import cryptography']).status === 0

test('an export is verified offline: 0, or 6 with the first entry that fails verification', async (t) => {
  const api = await openServer(t)
  const env = { JOBCAST_URL: api.http, JOBCAST_API_KEY: api.adminKey }
  const folder = dataFolder(t)
  const [file, kept] = [join(folder, 'audit.ndjson'), join(folder, 'checkpoint.json')]
  // U+2028 ends a line for some readers.
  await api.call('PUT', '/job/api/groups/one', { body: { where: 'all', description: 'a\u2028b' } })
  await waitUntil('the first is sealed', async () => {
    return (await runJobcast(['audit', 'checkpoint'], env)).code === 0
  })
  await api.call('PUT', '/job/api/groups/two', { body: { where: 'all' } })
  const listed = await runJobcast(['audit', '--action', 'group.*', '--json'], env)
  const [two, one] = JSON.parse(listed.stdout)
  assert.deepEqual([one.subject, two.subject], ['group:one', 'group:two'])
  const table = await runJobcast(['audit', 'ls', '--subject', 'group:two'], env)
  assert.match(table.stdout, /^ENTRY .*WHO.*ACTION.*\n.*group\.changed +group:two/)
  await waitUntil('both are sealed', async () => {
    const { code, stdout } = await runJobcast(['audit', 'checkpoint'], env)
    writeFileSync(kept, stdout)
    return code === 0 && JSON.parse(stdout).lastAuditId >= two.auditId
  })
  const exported = await runJobcast(['audit', 'export'], env)
  const verdictOf = async (text: string, flags: string[] = [], pythonFlags: string[] = []) => {
    writeFileSync(file, text)
    const verify = ['audit', 'verify', file, '--checkpoint', kept, '--json', ...flags]
    const { code, stdout } = await runJobcast(verify)
    if (hasPython) {
      const python = spawnSync('python3', [script, file, kept, ...pythonFlags], { encoding: 'utf8' })
      assert.equal(python.status, code, python.stdout + python.stderr)
      const { auditId = null } = JSON.parse(stdout)
      assert.match(python.stdout, auditId === null ? /intact/ : new RegExp(`from entry ${auditId} on`))
    }
    return { code, auditId: JSON.parse(stdout).auditId }
  }
  const fits = { code: 0, auditId: undefined }
  const lines = exported.stdout.split('\n').slice(0, -1)
  const at = lines.findIndex((line) => line.startsWith(`{"auditId":${one.auditId},`))
  const joined = (some: string[]) => some.map((line) => `${line}\n`).join('')
  assert.deepEqual(await verdictOf(exported.stdout), fits)
  const flipped = lines.with(at, (lines[at] as string).replace('group:one', 'group:0ne'))
  assert.deepEqual(await verdictOf(joined(flipped)), { code: 6, auditId: one.auditId })
  const cut = await verdictOf(joined(lines.slice(0, -1)))
  assert.equal(cut.code, 6)
  assert.ok(cut.auditId <= two.auditId)

  const sealAt = lines.findIndex((line) => !line.startsWith('{"auditId":'))
  const purged = joined(lines.slice(sealAt))
  const { firstAuditId } = JSON.parse(lines[sealAt] as string)
  assert.deepEqual(await verdictOf(purged), { code: 6, auditId: firstAuditId })
  const inTwoDays = new Date(Date.now() + 2 * 24 * 60 * 60_000).toISOString()
  assert.deepEqual(await verdictOf(purged, ['--kept-days', '1', '--exported', inTwoDays], ['0']), fits)
  const withoutSeal = await verdictOf(joined(lines.slice(sealAt + 1)))
  assert.equal(withoutSeal.code, 6)

  const noFile = await runJobcast(['audit', 'verify', join(folder, 'none'), '--checkpoint', kept])
  assert.deepEqual([noFile.code, /Cannot read/.test(noFile.stderr)], [2, true])
  const noCheckpoint = await runJobcast(['audit', 'verify', file, '--checkpoint', file])
  assert.deepEqual([noCheckpoint.code, /not a checkpoint/.test(noCheckpoint.stderr)], [2, true])
  assert.ok(!readFileSync(kept, 'utf8').includes('PRIVATE'))
})
