import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { Journal } from '../src/state/journal.ts'
import type { JournalRecord } from '../src/state/journal-records.ts'

const outcome = { status: 'SUCCEEDED' as const, statusDetails: { exitCode: '0' }, result: { a: 1 } }

function starting(jobId: string, more: object = {}): JournalRecord {
  const fields = {
    attempt: 1,
    start: 1,
    startId: `id-${jobId}`,
    bootId: 'boot',
    onInterrupt: 'report' as const,
  }
  return { kind: 'starting', jobId, ...fields, ...more }
}

async function open(t: TestContext, path: string): Promise<Journal & { replaced: string[] }> {
  const replaced: string[] = []
  const journal = await Journal.open(path, (keptAs) => replaced.push(keptAs))
  t.after(() => journal.close().catch(() => undefined))
  return Object.assign(journal, { replaced })
}

test('entries and the name of the agent are there after the next opening', async (t) => {
  const path = join(temporaryFolder(t), 'journal')
  const first = await open(t, path)
  await first.add(starting('1'), true)
  await first.add({ kind: 'started', jobId: '1', attempt: 1, pid: 77, startedAt: '5' }, false)
  await first.add(starting('2'), true)
  await first.add({ kind: 'finished', jobId: '2', attempt: 1, outcome }, true)
  await first.add(starting('3'), true)
  await first.add({ kind: 'rebooting', jobId: '3', attempt: 1, bootId: 'boot', step: 2 }, true)
  await first.add({ kind: 'settled', jobId: '2', attempt: 1 }, false)
  await first.close()
  assert.equal(statSync(path).mode & 0o777, 0o600)

  const second = await open(t, path)
  assert.equal(second.agentId, first.agentId)
  assert.deepEqual(
    second.unsettled().map(({ jobId, phase, step }) => [jobId, phase, step]),
    [
      ['1', 'started', 0],
      ['3', 'rebooting', 2],
    ],
  )
  assert.deepEqual(second.get({ jobId: '1', attempt: 1 })?.processes, [{ pid: 77, startedAt: '5' }])
  assert.equal(second.get({ jobId: '2', attempt: 1 })?.phase, 'settled')
  assert.equal(second.get({ jobId: '2', attempt: 2 }), undefined)
})

test('an incomplete last line is ignored', async (t) => {
  const path = join(temporaryFolder(t), 'journal')
  const first = await open(t, path)
  await first.add(starting('1'), true)
  await first.close()
  const whole = readFileSync(path)
  const line = `${JSON.stringify(starting('2'))}\n`
  for (const torn of [line.slice(0, 20), '\0'.repeat(50), `\0\0\0${line.slice(40)}`]) {
    writeFileSync(path, whole)
    appendFileSync(path, torn)
    const again = await open(t, path)
    assert.deepEqual(
      again.unsettled().map(({ jobId }) => jobId),
      ['1'],
      JSON.stringify(torn),
    )
    assert.equal(again.agentId, first.agentId)
    await again.add(starting('3'), true)
    await again.close()
    const after = await open(t, path)
    assert.deepEqual(
      after.unsettled().map(({ jobId }) => jobId),
      ['1', '3'],
    )
    await after.close()
  }
})

test('a damaged journal is renamed, and the agent gets another name, because its begun executions are unknown', async (t) => {
  const path = join(temporaryFolder(t), 'journal')
  const first = await open(t, path)
  for (const jobId of ['1', '2']) await first.add(starting(jobId), true)
  await first.close()
  const bytes = readFileSync(path)
  bytes[bytes.indexOf('"2"') - 60] = 0
  writeFileSync(path, bytes)
  appendFileSync(path, `${JSON.stringify(starting('3'))}\n`)
  const second = await open(t, path)
  assert.notEqual(second.agentId, first.agentId)
  assert.deepEqual(second.unsettled(), [])
  assert.equal(second.replaced.length, 1)
  assert.ok(existsSync(second.replaced[0] as string))
})

test('an empty journal is not damaged', async (t) => {
  const path = join(temporaryFolder(t), 'journal')
  writeFileSync(path, '')
  const journal = await open(t, path)
  assert.deepEqual(journal.replaced, [])
})

test('a growing journal is compacted: settled executions are stored by name, and the oldest are removed', async (t) => {
  const path = join(temporaryFolder(t), 'journal')
  const journal = await open(t, path)
  await journal.add(starting('open'), true)
  const large = { ...outcome, result: 'x'.repeat(20_000) }
  for (let id = 1; id <= 1100; id++) {
    await journal.add(starting(String(id)), false)
    await journal.add({ kind: 'finished', jobId: String(id), attempt: 1, outcome: large }, false)
    await journal.add({ kind: 'settled', jobId: String(id), attempt: 1 }, false)
  }
  await journal.close()
  assert.ok(statSync(path).size < 2 * 1024 * 1024)
  assert.equal(existsSync(`${path}.new`), false)

  const again = await open(t, path)
  assert.equal(again.agentId, journal.agentId)
  assert.deepEqual(
    again.unsettled().map(({ jobId }) => jobId),
    ['open'],
  )
  assert.deepEqual(again.get({ jobId: '1100', attempt: 1 })?.outcome?.statusDetails, { exitCode: '0' })
  assert.equal(again.get({ jobId: '1', attempt: 1 }), undefined)
})

test('a failed write has no effect, and does not damage the next one', async (t) => {
  const path = join(temporaryFolder(t), 'journal')
  const journal = await open(t, path)
  await journal.add(starting('1'), true)
  const handle = await openFile(path)
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  type Write = (bytes: Buffer, from: number, length: number, at: number) => Promise<{ bytesWritten: number }>
  const write = prototype.write as unknown as Write
  // A disk that accepts half of the bytes, then none.
  const half: Write = function (this: FileHandle, bytes, from, length, at) {
    if (full.mock.callCount() > 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    return write.call(this, bytes, from, Math.floor(length / 2), at)
  }
  const full = t.mock.method(prototype, 'write', half as unknown as FileHandle['write'])
  await assert.rejects(journal.add(starting('2', { startId: 'x'.repeat(500) }), true), { code: 'ENOSPC' })
  full.mock.restore()
  assert.equal(journal.get({ jobId: '2', attempt: 1 }), undefined)
  await journal.add(starting('3'), true)
  await journal.close()
  const again = await open(t, path)
  assert.deepEqual(again.replaced, [])
  assert.deepEqual(
    again.unsettled().map(({ jobId }) => jobId),
    ['1', '3'],
  )
})
