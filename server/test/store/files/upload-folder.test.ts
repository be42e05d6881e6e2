// Uploads in parts, in a folder that nodes share: they survive the node that wrote them, and expire.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { StorageUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import { ContentTooLarge } from '../../../src/domain/file/ports/contents.ts'
import { ContentFolder } from '../../../src/store/files/content-folder.ts'

const dayMs = 24 * 60 * 60_000
const upload = { ownerNo: 1, fileName: 'app', version: '1.4+b', sha256: 'a'.repeat(64), size: 10 }

function open(t: TestContext, requireRoom = (_bytes: number) => {}) {
  const folder = join(temporaryFolder(t), 'files')
  const clock = { at: Date.now() }
  const openAs = (id = 'ow_1') =>
    new ContentFolder({
      ...{ folder, requireRoom, isShared: true },
      now: () => clock.at,
      installationId: async () => id,
    })
  const names = () =>
    existsSync(join(folder, 'uploads')) ? readdirSync(join(folder, 'uploads'), { recursive: true }) : []
  return { openAs, clock, names }
}

async function* chunks(...texts: (string | Error)[]) {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  }
}

async function textOf(body: AsyncIterable<Buffer> | undefined): Promise<string | undefined> {
  return body && Buffer.concat(await Array.fromAsync(body)).toString()
}

test('an upload received by one node continues on another', async (t) => {
  const { openAs } = open(t)
  const [one, two] = [openAs().uploads, openAs().uploads]
  assert.equal(await one.begin(upload), true)
  assert.equal(await two.begin(upload), false)
  const first = { offset: 0, length: 10, body: chunks('012', '34', new Error('cut off')) }
  await assert.rejects(one.append(upload, first), /cut off/)
  assert.equal(await two.receivedOf(upload), 5)
  assert.deepEqual(await two.append(upload, { offset: 4, length: 6, body: chunks('x') }), {
    ...{ kind: 'elsewhere', received: 5 },
  })
  assert.deepEqual(await two.append(upload, { offset: 5, length: 5, body: chunks('56789') }), {
    ...{ kind: 'stored', received: 10 },
  })
  assert.equal(await textOf(await one.read(upload)), '0123456789')
  assert.deepEqual(await one.list(1), [upload])
  assert.deepEqual(await one.list(2), [])
  await one.remove(upload)
  assert.deepEqual([await two.receivedOf(upload), await two.read(upload)], [0, undefined])
})

test('a slow client that was believed to be gone writes what is there already', async (t) => {
  const { openAs } = open(t)
  const { uploads } = openAs()
  await uploads.begin(upload)
  const slow = Promise.withResolvers<Buffer>()
  async function* slowly() {
    yield Buffer.from('0123')
    yield slow.promise
  }
  const first = uploads.append(upload, { offset: 0, length: 10, body: slowly() })
  while ((await uploads.receivedOf(upload)) < 4) await new Promise(setImmediate)
  await uploads.append(upload, { offset: 4, length: 6, body: chunks('456789') })
  slow.resolve(Buffer.from('45'))
  assert.equal((await first).received, 10)
  assert.equal(await textOf(await uploads.read(upload)), '0123456789')
})

test('no more is taken than the range has, or than there is room for', async (t) => {
  let free = 100
  const { openAs, names } = open(t, (bytes) => {
    if (bytes > free) throw new StorageUnavailable('the disk is full')
  })
  const { uploads } = openAs()
  free = 19
  await assert.rejects(uploads.begin(upload), StorageUnavailable)
  assert.deepEqual(names(), [])
  free = 20
  await uploads.begin(upload)
  await assert.rejects(
    uploads.append(upload, { offset: 0, length: 4, body: chunks('0123', '4') }),
    ContentTooLarge,
  )
  async function* filling() {
    yield Buffer.from('45')
    free = 0
    yield Buffer.from('67')
  }
  await assert.rejects(uploads.append(upload, { offset: 4, length: 6, body: filling() }), StorageUnavailable)
  free = 10
  assert.equal(await uploads.receivedOf(upload), 6)
  await uploads.append(upload, { offset: 6, length: 4, body: chunks('6789') })
  assert.equal(await textOf(await uploads.read(upload)), '0123456789')
})

test('uploads without progress for a day are removed, also those of another node', async (t) => {
  const { openAs, clock, names } = open(t)
  const [one, two] = [openAs(), openAs()]
  await one.uploads.begin(upload)
  await one.uploads.append(upload, { offset: 0, length: 5, body: chunks('01234') })
  clock.at += dayMs - 60_000
  await two.removeUnused(async () => [])
  assert.equal(await one.uploads.receivedOf(upload), 5)
  await one.uploads.append(upload, { offset: 5, length: 1, body: chunks('5') })
  clock.at += dayMs - 60_000
  await two.removeUnused(async () => [])
  assert.equal(await one.uploads.receivedOf(upload), 6)
  clock.at += 120_000
  await two.removeUnused(async () => [])
  assert.deepEqual(names(), [])
})

test('another installation puts nothing into the folder, and removes nothing', async (t) => {
  const { openAs, clock, names } = open(t)
  await openAs().uploads.begin(upload)
  const other = openAs('ow_2')
  await assert.rejects(other.uploads.begin({ ...upload, version: '2' }), StorageUnavailable)
  const part = { offset: 0, length: 1, body: chunks('0') }
  await assert.rejects(other.uploads.append(upload, part), StorageUnavailable)
  clock.at += 2 * dayMs
  await other.removeUnused(async () => [])
  assert.equal(names().length, 2)
})

test('concurrent finishes of the same upload wait for the first', async (t) => {
  const { uploads } = open(t).openAs()
  const under = Promise.withResolvers<string>()
  const [first, second] = [
    uploads.finish(upload, () => under.promise),
    uploads.finish(upload, async () => 'x'),
  ]
  under.resolve('first')
  assert.deepEqual(await Promise.all([first, second]), ['first', 'first'])
  assert.equal(await uploads.finish(upload, async () => 'next'), 'next')
})
