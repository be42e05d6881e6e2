// Content in a folder: complete or absent after any failure, and removed once nothing needs it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { StorageUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import { ContentTooLarge } from '../../../src/domain/file/ports/contents.ts'
import { ContentFolder } from '../../../src/store/files/content-folder.ts'

const hourMs = 60 * 60_000

function open(t: TestContext, { isShared = false, requireRoom = (_bytes: number) => {} } = {}) {
  const folder = join(temporaryFolder(t), 'files')
  const clock = { at: Date.now() }
  const told: string[] = []
  const openAs = (id: string | undefined) =>
    new ContentFolder({
      ...{ folder, isShared, requireRoom },
      now: () => clock.at,
      installationId: async () => id,
      onForeign: (foreign) => told.push(foreign),
    })
  const contents = openAs('ow_1')
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256)
  const incoming = () => (existsSync(join(folder, 'incoming')) ? readdirSync(join(folder, 'incoming')) : [])
  const keep = async (text: string) => {
    const received = await contents.receive(chunks(text), 1000)
    await contents.keep(received, async () => undefined)
    return received.sha256
  }
  return { folder, contents, openAs, told, clock, pathOf, incoming, keep }
}

async function* chunks(...texts: (string | Error)[]) {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  }
}

const none = async () => []

test('received content is stored under its hash, equal content once', async (t) => {
  const { contents, pathOf, incoming, keep } = open(t)
  const sha256 = await keep('content')
  assert.equal(sha256, createHash('sha256').update('content').digest('hex'))
  assert.equal(await keep('content'), sha256)
  assert.equal(readFileSync(pathOf(sha256), 'utf8'), 'content')
  assert.deepEqual(incoming(), [])
  const part = await contents.open(sha256, { first: 3, last: 5 })
  assert.equal(Buffer.concat((await part?.toArray()) as Buffer[]).toString(), 'ten')
  assert.equal(await contents.open('0'.repeat(64), { first: 0, last: 0 }), undefined)
})

test('content that is too large, cut off or does not fit on the disk leaves nothing behind', async (t) => {
  let isFull = false
  const requireRoom = () => {
    if (isFull) throw new StorageUnavailable('the disk is full')
  }
  const { contents, incoming, keep } = open(t, { requireRoom })
  await assert.rejects(contents.receive(chunks('a', 'bc'), 2), ContentTooLarge)
  await assert.rejects(contents.receive(chunks('a', new Error('cut off')), 9), /cut off/)
  isFull = true
  await assert.rejects(keep('content'), StorageUnavailable)
  isFull = false
  await contents.discard(await contents.receive(chunks('a'), 9))
  assert.deepEqual(incoming(), [])
})

test('what is announced is not read unless there is room for all of it', async (t) => {
  const requireRoom = (bytes: number) => {
    if (bytes > 5) throw new StorageUnavailable('the disk is full')
  }
  const { contents, incoming } = open(t, { requireRoom })
  let isRead = false
  async function* body() {
    isRead = true
    yield Buffer.from('six by')
  }
  await assert.rejects(contents.receive(body(), 9, 6), StorageUnavailable)
  assert.deepEqual([isRead, incoming()], [false, []])
  await contents.discard(await contents.receive(chunks('five ', 'more'), 9, 5))
})

test('leftovers of a crash are removed, and content being received is not', async (t) => {
  const { folder, contents, incoming } = open(t)
  mkdirSync(join(folder, 'incoming'), { recursive: true })
  writeFileSync(join(folder, 'incoming', 'left'), 'half')
  const received = await contents.receive(chunks('whole'), 9)
  await contents.removeUnused(none)
  assert.equal(incoming().length, 1)
  await contents.keep(received, async () => undefined)
  assert.deepEqual(incoming(), [])
})

test('in a folder that is shared, a part of another node is left alone for an hour', async (t) => {
  const { folder, contents, incoming, clock } = open(t, { isShared: true })
  mkdirSync(join(folder, 'incoming'), { recursive: true })
  writeFileSync(join(folder, 'incoming', 'of-another'), 'half')
  await contents.removeUnused(none)
  assert.deepEqual(incoming(), ['of-another'])
  clock.at += hourMs + 60_000
  await contents.removeUnused(none)
  assert.deepEqual(incoming(), [])
})

test('content that nothing needs is removed an hour later, unless it is being recorded', async (t) => {
  const { contents, clock, pathOf, keep } = open(t)
  const [needed, unused] = [await keep('needed'), await keep('unused')]
  const listNeeded = async (sha256s: string[]) => sha256s.filter((each) => each === needed)
  await contents.removeUnused(listNeeded)
  assert.ok(existsSync(pathOf(unused)))
  clock.at += hourMs + 1000
  const again = await contents.receive(chunks('unused'), 9)
  await contents.keep(again, async () => {
    const old = (clock.at - 2 * hourMs) / 1000
    utimesSync(pathOf(unused), old, old)
    await contents.removeUnused(listNeeded)
    assert.ok(existsSync(pathOf(unused)))
  })
  await contents.removeUnused(listNeeded)
  assert.deepEqual([existsSync(pathOf(needed)), existsSync(pathOf(unused))], [true, false])
})

test('a service with another database removes nothing from the folder and puts nothing into it', async (t) => {
  const { folder, openAs, told, clock, pathOf, incoming, keep } = open(t)
  const sha256 = await keep('content')
  writeFileSync(join(folder, 'incoming', 'left'), 'half')
  const other = openAs('ow_2')
  clock.at += 2 * hourMs
  for (let times = 0; times < 2; times++) await other.removeUnused(none)
  await assert.rejects(other.receive(chunks('more'), 9), StorageUnavailable)
  assert.deepEqual([existsSync(pathOf(sha256)), incoming(), told], [true, ['left'], [folder]])
  const read = await other.open(sha256, { first: 0, last: 6 })
  assert.equal(Buffer.concat((await read?.toArray()) as Buffer[]).toString(), 'content')
  // While it is not known whose the database is, nothing happens either.
  await openAs(undefined).removeUnused(none)
  assert.ok(existsSync(pathOf(sha256)))
  assert.equal(told.length, 1)
  const again = openAs('ow_1')
  clock.at += 2 * hourMs
  await again.removeUnused(none)
  assert.ok(!existsSync(pathOf(sha256)))
})

test('during the first hour after a start content is left alone, however old it is', async (t) => {
  const { openAs, clock, pathOf, keep } = open(t)
  const sha256 = await keep('content')
  clock.at += 24 * hourMs
  const contents = openAs('ow_1')
  await contents.removeUnused(none)
  clock.at += hourMs - 1
  await contents.removeUnused(none)
  assert.ok(existsSync(pathOf(sha256)))
  clock.at += 1
  await contents.removeUnused(none)
  assert.ok(!existsSync(pathOf(sha256)))
})

test('in a folder that is shared, content stays that another node keeps while it is removed here', async (t) => {
  const { contents, openAs, clock, pathOf, keep } = open(t, { isShared: true })
  const sha256 = await keep('content')
  clock.at += 2 * hourMs
  const other = openAs('ow_1')
  const keepThere = async () => {
    await other.keep(await other.receive(chunks('content'), 9), async () => undefined)
  }
  // Recorded between the first look at the database and the second one.
  let looks = 0
  await contents.removeUnused(async (hashes) => {
    if (looks++ === 0) return []
    await keepThere()
    return hashes
  })
  assert.equal(looks, 2)
  assert.equal(readFileSync(pathOf(sha256), 'utf8'), 'content')
  // Kept before it is moved away.
  utimesSync(pathOf(sha256), 0, 0)
  let times = 0
  await contents.removeUnused(async () => {
    if (times++ === 0) await keepThere()
    return []
  })
  assert.equal(readFileSync(pathOf(sha256), 'utf8'), 'content')
})

test('content left by a crash during removal is restored if it is needed, and removed otherwise', async (t) => {
  const { contents, clock, pathOf, keep } = open(t, { isShared: true })
  const [needed, unused] = [await keep('needed'), await keep('unused')]
  for (const sha256 of [needed, unused]) renameSync(pathOf(sha256), `${pathOf(sha256)}.leaving`)
  clock.at += 2 * hourMs
  await contents.removeUnused(async (sha256s) => sha256s.filter((each) => each === needed))
  const left = [needed, unused].map((sha256) => existsSync(pathOf(sha256)))
  const leaving = [needed, unused].map((sha256) => existsSync(`${pathOf(sha256)}.leaving`))
  assert.deepEqual(
    [left, leaving],
    [
      [true, false],
      [false, false],
    ],
  )
})
