// Content in a bucket of a real S3-compatible store: whole or not there, whatever fails, and removed once nothing needs it.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, type TestContext } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openS3Server, type S3Server, withoutS3 } from '@jobcast/testkit/s3-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { BucketUnavailable, StorageUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import { ContentTooLarge } from '../../../src/domain/file/ports/contents.ts'
import { type Bucket, openBucket } from '../../../src/store/files/bucket.ts'
import { BucketContents } from '../../../src/store/files/bucket-contents.ts'
import { examineBucket } from '../../../src/store/files/examine-bucket.ts'
import { RemovalGuard } from '../../../src/store/files/removal-guard.ts'

const hourMs = 60 * 60_000
const partBytes = 64 * 1024
const skip = { skip: withoutS3 }
const s3 = withoutS3 || !isChaos ? undefined : await openS3Server({ after }, partBytes)
let tests = 0

async function open(t: TestContext, { isShared = false } = {}) {
  const settings = (s3 as S3Server).settings(`test-${++tests}`)
  const bucket = await openBucket(settings)
  t.after(() => bucket.close())
  const clock = { at: Date.now() }
  const told: string[] = []
  const openAs = (id: string | undefined, at: Bucket = bucket) =>
    new BucketContents({
      ...{ bucket: at, where: 'bucket', isShared, leastPartBytes: partBytes },
      now: () => clock.at,
      elapsed: () => clock.at,
      installationId: async () => id,
      onForeign: (where) => told.push(where),
    })
  const contents = openAs('ow_1')
  const keep = async (content: Buffer, expected?: string, at = contents) => {
    const received = await at.receive(pieces(content), 10_000_000, content.length, expected)
    await at.keep(received, async () => undefined)
    return received.sha256
  }
  const names = async () => (await Array.fromAsync(bucket.list(''))).map(({ key }) => key)
  const multiparts = async () => (await Array.fromAsync(bucket.listMultiparts())).length
  return { settings, bucket, contents, openAs, told, clock, keep, names, multiparts }
}

async function* pieces(content: Buffer, failure?: Error) {
  for (let at = 0; at < content.length; at += 50_000) yield content.subarray(at, at + 50_000)
  if (failure) throw failure
}

const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const keyOf = (sha256: string) => `${sha256.slice(0, 2)}/${sha256}`
const none = async () => []

async function contentOf(contents: BucketContents, sha256: string, first = 0, last = 10_000_000) {
  const stream = await contents.open(sha256, { first, last })
  return stream && Buffer.concat(await stream.toArray())
}

chaosTest(
  'content is an object by its hash, in parts or in one, whether its hash is known before or not',
  skip,
  async (t) => {
    const { contents, keep, names, multiparts } = await open(t)
    for (const content of [randomBytes(100), randomBytes(3 * partBytes + 5)]) {
      for (const expected of [undefined, hashOf(content)])
        assert.equal(await keep(content, expected), hashOf(content))
      assert.deepEqual(await contentOf(contents, hashOf(content), 0, content.length - 1), content)
      assert.deepEqual(await contentOf(contents, hashOf(content), 90, 95), content.subarray(90, 96))
    }
    assert.equal(await contentOf(contents, '0'.repeat(64)), undefined)
    assert.match((await names()).join('\n'), /^(?:([0-9a-f]{2})\/\1[0-9a-f]{62}\n){2}installation$/)
    assert.equal(await multiparts(), 0)
  },
)

chaosTest('what is too large, is cut off or has another hash leaves nothing', skip, async (t) => {
  const { contents, names, multiparts } = await open(t)
  const content = randomBytes(3 * partBytes)
  await assert.rejects(contents.receive(pieces(content), 2 * partBytes), ContentTooLarge)
  await assert.rejects(contents.receive(pieces(content, new Error('cut off')), 1_000_000), /cut off/)
  const other = await contents.receive(pieces(content), 1_000_000, content.length, hashOf(randomBytes(1)))
  await assert.rejects(
    contents.keep(other, async () => undefined),
    /another hash/,
  )
  assert.deepEqual([await names(), await multiparts()], [['installation'], 0])
})

chaosTest('parts continue on any node; nothing more is taken than the range has', skip, async (t) => {
  const { openAs, names } = await open(t, { isShared: true })
  const [one, two] = [openAs('ow_1').uploads, openAs('ow_1').uploads]
  const content = randomBytes(3 * partBytes + 10)
  const upload = {
    ownerNo: 1,
    fileName: 'app',
    version: '1.4+b',
    sha256: hashOf(content),
    size: content.length,
  }
  const whole = { offset: 0, length: content.length }
  assert.deepEqual(await one.append(upload, { ...whole, body: pieces(content) }), {
    ...{ kind: 'elsewhere', received: 0 },
  })
  assert.deepEqual([await one.begin(upload), await two.begin(upload)], [true, false])
  const cut = pieces(content.subarray(0, partBytes + 7), new Error('cut off'))
  await assert.rejects(one.append(upload, { ...whole, body: cut }), /cut off/)
  assert.equal(await two.receivedOf(upload), partBytes + 7)
  const more = { offset: partBytes + 7, length: 5, body: pieces(content.subarray(0, 6)) }
  await assert.rejects(two.append(upload, more), ContentTooLarge)
  const rest = pieces(content.subarray(partBytes + 7))
  const next = { offset: partBytes + 7, length: content.length - partBytes - 7, body: rest }
  assert.deepEqual(await two.append(upload, next), { kind: 'stored', received: content.length })
  assert.deepEqual(Buffer.concat((await (await one.read(upload))?.toArray()) ?? []), content)
  assert.deepEqual([await one.list(1), await one.list(2)], [[upload], []])
  await one.remove(upload)
  assert.deepEqual([await two.receivedOf(upload), await two.read(upload)], [0, undefined])
  assert.deepEqual(await names(), ['installation'])
})

chaosTest(
  'content that nothing needs is removed an hour later, with what crashes have left',
  skip,
  async (t) => {
    const { bucket, contents, clock, keep, names, multiparts } = await open(t)
    const [needed, unused] = [await keep(randomBytes(10)), await keep(randomBytes(20))]
    const needs = [needed]
    const listNeeded = async (sha256s: string[]) => sha256s.filter((each) => needs.includes(each))
    const left = await bucket.beginMultipart('incoming/left')
    await bucket.putPart(left, 1, randomBytes(10))
    await bucket.put('incoming/left-too', randomBytes(10))
    const ours = await contents.receive(pieces(randomBytes(2 * partBytes)), 1_000_000)
    await contents.removeUnused(listNeeded)
    assert.equal(await multiparts(), 1)
    assert.deepEqual(await names(), [keyOf(needed), keyOf(unused), 'installation'].sort())
    await contents.keep(ours, async () => undefined)
    clock.at += hourMs + 60_000
    needs.push(ours.sha256)
    await contents.removeUnused(listNeeded)
    assert.deepEqual(await names(), [keyOf(needed), keyOf(ours.sha256), 'installation'].sort())
  },
)

chaosTest('what is wrong with a bucket is said in a sentence', skip, async (t) => {
  const { settings, openAs } = await open(t)
  assert.equal(await examineBucket(settings), undefined)
  const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'wrong' }
  for (const [changed, isLasting, text] of [
    [{ bucket: 'other-files' }, true, /\/other-files\/test-\d+: the bucket does not exist \(.*: create it/],
    [{ credentials }, true, /the bucket rejects the credentials of the service .*FILES_S3_ACCESS_KEY_ID/],
    [
      { endpoint: 'http://127.0.0.1:9' },
      false,
      /the bucket does not respond .*check the address in files-s3/,
    ],
  ] as const) {
    const problem = await examineBucket({ ...settings, ...changed })
    assert.equal(problem?.isLasting, isLasting)
    assert.match(problem.text, text)
    const bucket = await openBucket({ ...settings, ...changed })
    t.after(() => bucket.close())
    await assert.rejects(openAs('ow_1', bucket).receive(pieces(randomBytes(5)), 9), BucketUnavailable)
  }
})

chaosTest('another installation puts nothing into the bucket, and removes nothing', skip, async (t) => {
  const { contents, openAs, told, clock, keep, names } = await open(t)
  const content = randomBytes(10)
  const sha256 = await keep(content)
  const other = openAs('ow_2')
  clock.at += 2 * hourMs
  for (let times = 0; times < 2; times++) await other.removeUnused(none)
  await assert.rejects(other.receive(pieces(content), 99), StorageUnavailable)
  await openAs(undefined).removeUnused(none)
  assert.deepEqual([await names(), told], [[keyOf(sha256), 'installation'].sort(), ['bucket']])
  assert.deepEqual(await contentOf(other, sha256, 0, 9), content)
  await contents.removeUnused(none)
  assert.deepEqual(await names(), ['installation'])
})

chaosTest('content stays that another node keeps while it is being removed', skip, async (t) => {
  const { bucket } = await open(t)
  const clock = { at: 0 }
  const newGuard = () => new RemovalGuard({ bucket, isShared: true, elapsed: () => clock.at })
  const [one, two] = [newGuard(), newGuard()]
  const sha256 = 'a'.repeat(64)
  const done: string[] = []
  const remove = async () => void done.push('removed')
  await two.whileKept(sha256, async () => {
    for (const guard of [one, two]) await guard.remove(sha256, async () => true, remove)
    done.push('kept')
  })
  // The other way round: it is being removed when it is kept again, also on the same node.
  const judged = async () => {
    done.push('judged')
    for (const guard of [one, two]) void guard.whileKept(sha256, async () => void done.push('kept again'))
    await new Promise((resolve) => setTimeout(resolve, 300))
    return true
  }
  await one.remove(sha256, judged, remove)
  await waitUntil('both are kept', () => done.length === 5)
  assert.deepEqual(done, ['kept', 'judged', 'removed', 'kept again', 'kept again'])
  // A node that was stopped between its look and the removal.
  const stopped = async () => {
    clock.at += 61_000
    return true
  }
  await one.remove(sha256, stopped, remove)
  assert.equal(done.length, 5)
})

chaosTest(
  'what nobody continues with for a day is removed, also what another node has left',
  skip,
  async (t) => {
    const { openAs, clock, bucket, names, multiparts } = await open(t, { isShared: true })
    const [one, two] = [openAs('ow_1'), openAs('ow_1')]
    const upload = { ownerNo: 1, fileName: 'app', version: '1', sha256: 'a'.repeat(64), size: 10 }
    await one.uploads.begin(upload)
    await one.uploads.append(upload, { offset: 0, length: 5, body: pieces(randomBytes(5)) })
    await one.receive(pieces(randomBytes(2 * partBytes)), 1_000_000)
    await bucket.put(`keeping/${'b'.repeat(64)}/1`, Buffer.alloc(0))
    clock.at += 24 * hourMs - 60_000
    await two.removeUnused(none)
    assert.deepEqual([await one.uploads.receivedOf(upload), await multiparts()], [5, 1])
    clock.at += 120_000
    await two.removeUnused(none)
    assert.deepEqual([await names(), await multiparts()], [['installation'], 0])
  },
)
