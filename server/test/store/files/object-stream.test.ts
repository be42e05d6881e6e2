// Downloads from a bucket whose connections are cut, stall or begin late, and uploads to one that responds late. The store is a server of our own, which does as told.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BucketUnavailable, StorageUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import { openBucket } from '../../../src/store/files/bucket.ts'
import { openObject } from '../../../src/store/files/object-stream.ts'
import { PartWriter } from '../../../src/store/files/part-writer.ts'

// More than what sockets buffer.
const content = randomBytes(16 * 1024 * 1024)
const silenceMs = 50_000

type Answer = (response: ServerResponse, part: Buffer) => void

const whole: Answer = (response, part) => response.end(part)
const cutAfter =
  (bytes: number): Answer =>
  (response, part) =>
    response.write(part.subarray(0, bytes), () => response.destroy())
const stall: Answer = (response) => response.flushHeaders()

/** `answers`: one for each request; after the last, `whole`. */
async function openStore(t: TestContext, ...answers: Answer[]) {
  const ranges: string[] = []
  const responses: ServerResponse[] = []
  const store = createServer((request, response) => {
    const { range = '' } = request.headers
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
    ranges.push(range.slice('bytes='.length))
    responses.push(response)
    const part = content.subarray(Number(first), Number(last) + 1)
    response.writeHead(206, { 'content-length': part.length })
    const answer = answers.shift() ?? whole
    answer(response, part)
  })
  store.listen(0, '127.0.0.1')
  await once(store, 'listening')
  const bucket = await openBucket({
    endpoint: `http://127.0.0.1:${(store.address() as AddressInfo).port}`,
    ...{ bucket: 'files', prefix: '', region: 'us-east-1' },
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  })
  t.after(() => {
    bucket.close()
    store.closeAllConnections()
    store.close()
  })
  const open = (first = 0, last = content.length - 1) =>
    openObject({ range: { first, last }, silenceMs, open: (range) => bucket.get('key', range) })
  return { bucket, ranges, responses, store, open: async () => (await open()) as Readable, openPart: open }
}

test('what is left is requested when the store cuts the connection', async (t) => {
  const { ranges, openPart } = await openStore(t, cutAfter(100_000), cutAfter(1))
  const stream = (await openPart(10, 999_999)) as Readable
  assert.ok((await buffer(stream)).equals(content.subarray(10, 1_000_000)))
  assert.deepEqual(ranges, ['10-999999', '100010-999999', '100011-999999'])
})

test('a reader that takes nothing costs no connection once the store has cut it, and gets the rest later', async (t) => {
  const { ranges, responses, open } = await openStore(t, (response, part) => response.write(part))
  const stream = await open()
  const iterator = stream.iterator({ destroyOnReturn: false })
  const { value: first } = await iterator.next()
  // The store waits for its reader, and cuts it.
  const [response] = responses as [ServerResponse]
  assert.ok(response.writableNeedDrain)
  response.destroy()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.timers.tick(10 * silenceMs)
  const rest = await Array.fromAsync(iterator)
  assert.ok(Buffer.concat([first, ...rest]).equals(content))
  assert.equal(ranges.length, 2)
})

test('a store that sends nothing while its data is waited for is asked again, at most twice in a row', async (t) => {
  for (const [silent, isComplete] of [
    [2, true],
    [3, false],
  ] as const) {
    const bodies: PassThrough[] = []
    const open = async () => {
      const body = new PassThrough()
      bodies.push(body)
      return body
    }
    const stream = (await openObject({ open, range: { first: 0, last: 3 }, silenceMs })) as Readable
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const read = buffer(stream)
    read.catch(() => undefined)
    for (let asked = 1; asked <= silent; asked++) {
      while (bodies.length < asked) await nextTurn()
      await nextTurn()
      t.mock.timers.tick(silenceMs - 1)
      assert.equal(bodies.at(-1)?.destroyed, false)
      t.mock.timers.tick(1)
    }
    if (isComplete) {
      while (bodies.length <= silent) await nextTurn()
      bodies.at(-1)?.end('data')
      assert.equal(String(await read), 'data')
    } else await assert.rejects(read, StorageUnavailable)
    assert.deepEqual(
      bodies.map(({ destroyed }) => destroyed),
      bodies.map(() => true),
    )
    t.mock.timers.reset()
  }
})

test('a download that is abandoned closes its connection', async (t) => {
  const { responses, open } = await openStore(t, stall)
  const stream = await open()
  stream.destroy()
  const [response] = responses as [ServerResponse]
  if (!response.closed) await once(response, 'close')
})

test('content may begin late, because a store that is asked for many downloads at once takes its time', async (t) => {
  const asked = Promise.withResolvers<ServerResponse>()
  const { store, openPart } = await openStore(t)
  store.removeAllListeners('request')
  store.on('request', (_request, response: ServerResponse) => asked.resolve(response))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const opened = openPart(0, 9)
  opened.catch(() => undefined)
  const response = await asked.promise
  t.mock.timers.tick(40_000)
  response.end(content.subarray(0, 10))
  assert.ok((await buffer((await opened) as Readable)).equals(content.subarray(0, 10)))
  const never = openPart(0, 9)
  const refused = assert.rejects(never, BucketUnavailable)
  await once(store, 'request')
  t.mock.timers.tick(60_000)
  await refused
})

test('an upload is stored although the store responds late, as it does to many at once', async (t) => {
  const { bucket, store } = await openStore(t)
  store.removeAllListeners('request')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const [call, answer] of [
    [() => bucket.put('key', Buffer.from('content')), ''],
    [
      () => bucket.beginMultipart('key'),
      '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>',
    ],
    [() => bucket.putPart({ key: 'key', uploadId: '1' }, 1, Buffer.from('content')), ''],
  ] as const) {
    const asked = once(store, 'request')
    const stored = call()
    stored.catch(() => undefined)
    const [request, response] = (await asked) as [IncomingMessage, ServerResponse]
    await buffer(request)
    t.mock.timers.tick(40_000)
    response.writeHead(200, { 'content-type': 'application/xml', etag: '"1"' }).end(answer)
    await stored
  }
})

test('a client that sends slowly keeps no request to the store waiting: its part is collected first', async (t) => {
  const { bucket, store } = await openStore(t)
  let requests = 0
  store.removeAllListeners('request')
  store.on('request', async (request, response) => {
    requests++
    await buffer(request)
    response.writeHead(200, { 'content-type': 'application/xml', etag: '"1"' })
    response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>')
  })
  const writer = new PartWriter(bucket, 'key', 1000)
  const counts: number[] = []
  for (let sent = 0; sent < 3; sent++) {
    await writer.write(content.subarray(0, 400))
    counts.push(requests)
  }
  // The third piece completes a part, which takes a request to begin the upload and one for the part.
  assert.deepEqual(counts, [0, 0, 2])
  await writer.write(content.subarray(0, 400))
  assert.equal(requests, 2)
})
