// The audit: entries for sign-ins and refusals; its list, export and checkpoint; and what the service says when its key is
// missing or its rows were changed. Entries of changes: audit-entries.test.ts.

import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { AuditVerifier } from '@jobcast/contract/audit'
import { openServer } from '@jobcast/testkit/open-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'

const api = await openSharedServer()
type Call = typeof api.call
const headers = { 'x-request-id': 'audit-test' }
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/job/api/${path}`, { headers, ...(body !== undefined && { body }) })
const entriesOf = async (query: string, ask: Call = api.call) =>
  (await ask('GET', `/job/api/audit?limit=200&${query}`)).json.items

test('sign-in and sign-out have entries, and a refusal for a scope has one for many', async () => {
  const { apiKey, keyId } = (await call('POST', 'keys', { keyName: 'reader', scopes: ['READ'] })).json
  const asReader = { 'x-api-key': apiKey }
  for (let tries = 0; tries < 3; tries++) {
    assertRefused(
      await api.call('PUT', '/job/api/groups/no', { body: { where: 'all' }, headers: asReader }),
      'J-804',
      'MANAGE',
    )
  }
  assertRefused(await api.call('GET', '/job/api/audit', { headers: asReader }), 'J-804', 'AUDIT')
  await api.call('POST', '/job/api/session', { body: { apiKey }, headers: { origin: api.http } })
  const principal = `principal=key:${keyId}`
  await waitUntil('refusals are written', async () => {
    return (await entriesOf(`${principal}&action=key.refused`)).length === 2
  })
  const notes = (await entriesOf(`${principal}&action=key.refused`)).map(({ note }: { note: string }) => note)
  assert.deepEqual(notes.toSorted(), ['GET /job/api/audit', 'PUT /job/api/groups/:groupName'])
  const [signedIn] = await entriesOf(`${principal}&action=session.signed_in`)
  assert.equal(signedIn.name, 'reader')
  assert.ok(signedIn.address)
})

test('a filter that cannot be read is J-500', async () => {
  for (const query of ['after=yesterday', 'before=1', 'subject=', 'limit=0', 'cursor=x', 'what=1']) {
    assertRefused(await api.call('GET', `/job/api/audit?${query}`), 'J-500')
  }
})

type Server = Pick<typeof api, 'call' | 'http' | 'adminKey'>

async function linesOf({ http, adminKey }: Omit<Server, 'call'>): Promise<string[]> {
  const reply = await fetch(`${http}/job/api/audit/export`, { headers: { 'x-api-key': adminKey } })
  assert.equal(reply.headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  return (await reply.text()).split('\n').slice(0, -1)
}

/** Sealed as a whole. */
async function exported({ call: ask, ...server }: Server) {
  const newest = (await entriesOf('', ask))[0].auditId
  const read = () => ask('GET', '/job/api/audit/checkpoint')
  await waitUntil('all entries are sealed', async () => (await read()).json.lastAuditId >= newest)
  const { json: checkpoint } = await read()
  const lines = await linesOf(server)
  return { lines, checkpoint }
}

function verdictOf({ lines, checkpoint }: Awaited<ReturnType<typeof exported>>) {
  const verifier = new AuditVerifier(checkpoint)
  for (const line of lines) verifier.add(line)
  return verifier.end()
}

test('an export fits its checkpoint, is the list, and rows that are changed in the database are found', async (t) => {
  const dataFolder = newDataFolder()
  removeAfter(t, dataFolder)
  const first = await openServer(t, { dataFolder })
  await first.call('PUT', '/job/api/groups/one', { body: { where: 'all' } })
  await first.call('PUT', '/job/api/groups/two', { body: { where: 'all' } })
  const whole = await exported(first)
  assert.equal(verdictOf(whole).kind, 'fits')
  const listed = await entriesOf('', first.call)
  const entries = whole.lines.map((line) => JSON.parse(line)).filter((line) => 'auditId' in line)
  assert.deepEqual(entries.toReversed(), listed)
  await first.server.stop()

  const db = new DatabaseSync(join(dataFolder, 'jobcast.db'))
  db.prepare("UPDATE audit_entry SET subject = 'group:six' WHERE subject = 'group:two'").run()
  db.close()
  const second = await openServer(t, { dataFolder })
  const changed = listed.find(({ subject }: { subject: string }) => subject === 'group:two')
  const lines = await linesOf(second)
  const verdict = verdictOf({ lines, checkpoint: whole.checkpoint })
  assert.deepEqual(verdict.kind === 'does-not-fit' && verdict.auditId, changed.auditId)
  await second.server.stop()

  const key = join(dataFolder, 'audit-key.pem')
  renameSync(key, `${key}.away`)
  await assert.rejects(
    openServer(t, { dataFolder }),
    /audit-key\.pem is missing: the audit is sealed with the key/,
  )
  const otherFolder = newDataFolder()
  removeAfter(t, otherFolder)
  await (await openServer(t, { dataFolder: otherFolder })).server.stop()
  const otherKey = join(otherFolder, 'audit-key.pem')
  await assert.rejects(openServer(t, { dataFolder, auditKeyFile: otherKey }), /sealed with the key/)
  renameSync(`${key}.away`, key)
  await (await openServer(t, { dataFolder })).server.stop()
  rmSync(otherKey)
})

/** All rows of a statement, on a connection of its own. */
function query(dataFolder: string, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(dataFolder, 'jobcast.db'))
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

async function damagedOwners(server: Server): Promise<string | undefined> {
  const reply = await fetch(`${server.http}/metrics`, { headers: { 'x-api-key': server.adminKey } })
  return /^jobcast_audit_damaged_owners (\d+)$/m.exec(await reply.text())?.[1]
}

test('a stop seals what was written last; seals that are deleted are found at start, and no new chain begins', async (t) => {
  const dataFolder = newDataFolder()
  removeAfter(t, dataFolder)
  const open = () => openServer(t, { dataFolder })
  const first = await open()
  assert.equal(await damagedOwners(first), '0')
  for (let n = 0; n < 5; n++) await first.call('PUT', `/job/api/groups/g${n}`, { body: { where: 'all' } })
  const stopping = first.call('PUT', '/job/api/groups/last', { body: { where: 'all' } })
  await stopping
  await first.server.stop()
  const newest = query(dataFolder, 'SELECT max(audit_id) AS id FROM audit_entry')[0]?.id
  const sealed = () => query(dataFolder, 'SELECT max(last_audit_id) AS id FROM audit_seal')[0]?.id
  assert.equal(sealed(), newest)

  query(dataFolder, 'DELETE FROM audit_seal RETURNING 1')
  const key = join(dataFolder, 'audit-key.pem')
  renameSync(key, `${key}.away`)
  await assert.rejects(open(), /audit-key\.pem is missing: the audit is sealed with the key/)
  renameSync(`${key}.away`, key)
  const second = await open()
  assert.equal(await damagedOwners(second), '1')
  await second.call('PUT', '/job/api/groups/more', { body: { where: 'all' } })
  await second.server.stop()
  assert.equal(sealed(), null)

  // What the operator does who knows why: docs/audit.md.
  const file = join(dataFolder, 'audit-seals.json')
  writeFileSync(file, '{')
  await assert.rejects(open(), /audit-seals\.json cannot be read/)
  rmSync(file)
  await (await open()).server.stop()
  assert.ok(Number(sealed()) > Number(newest))
})
