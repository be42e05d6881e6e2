// Uploads of large files continue after disconnects, and where an earlier process stopped.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { isJobcastError, Jobcast } from '@jobcast/client'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const server = await openSharedServer()
const mebibyte = 1024 * 1024
const partBytes = 8 * mebibyte

/** `ranges`: what was sent, in order. */
function openClient(url = server.http) {
  const ranges: (string | null)[] = []
  const jobcast = new Jobcast({
    url,
    apiKey: server.adminKey,
    fetch: (address, init) => {
      ranges.push(new Headers(init?.headers).get('content-range'))
      return fetch(address, init)
    },
  })
  return { jobcast, ranges }
}

function newContent(bytes: number) {
  const content = new Uint8Array(randomBytes(bytes))
  const sha256 = createHash('sha256').update(content).digest('base64')
  return { blob: new Blob([content]), sha256, hex: Buffer.from(sha256, 'base64').toString('hex') }
}

test('a large file is sent in parts, with progress; a small one as a whole', async () => {
  const { jobcast, ranges } = openClient()
  const { blob, sha256, hex } = newContent(partBytes + 100)
  const progress: number[] = []
  const onProgress = (received: number, size: number) => progress.push(received, size)
  const { created, value } = await jobcast.files.put('app', '1', blob, { sha256, onProgress })
  const { size } = blob
  assert.deepEqual([created, value.size, value.sha256], [true, size, hex])
  assert.deepEqual(ranges, [
    `bytes */${size}`,
    `bytes 0-${partBytes - 1}/${size}`,
    `bytes ${partBytes}-${size - 1}/${size}`,
  ])
  assert.deepEqual(progress, [0, size, partBytes, size, size, size])
  assert.equal((await jobcast.files.put('app', '1', blob, { sha256 })).created, false)
  ranges.length = 0
  await jobcast.files.put('app', 'whole', blob, { sha256, resume: false })
  await jobcast.files.put('app', 'small', blob.slice(0, 10))
  assert.deepEqual(ranges, [null, null])
})

test('an upload continues where another client stopped', async () => {
  const { blob, sha256 } = newContent(2 * partBytes + 5)
  const stopped = new AbortController()
  const onProgress = (received: number) => {
    if (received > 0) stopped.abort(new Error('stopped'))
  }
  const first = openClient().jobcast.files.put('app', '2', blob, {
    sha256,
    onProgress,
    signal: stopped.signal,
  })
  await assert.rejects(first, /stopped/)
  const { jobcast, ranges } = openClient()
  assert.equal((await jobcast.files.put('app', '2', blob, { sha256 })).created, true)
  assert.equal(ranges[0], `bytes */${blob.size}`)
  const [, from = 0] = /bytes (\d+)-/.exec(ranges[1] ?? '') ?? []
  assert.ok(Number(from) >= partBytes, ranges.join())
})

chaosTest('an interrupted upload continues automatically', async (t) => {
  const proxy = await openCuttingProxy(t, server.http)
  const { jobcast, ranges } = openClient(proxy.url)
  const { blob, sha256, hex } = newContent(3 * partBytes)
  // The connection is cut when the answer to each of these begins: what was sent has arrived.
  proxy.cutNext(0, 1, 2000, 0)
  const cutting = { count: 0 }
  const onProgress = () => {
    // And while the next part is on its way.
    if (cutting.count++ < 2) setImmediate(() => proxy.cutAll())
  }
  const { value } = await jobcast.files.put('app', '3', blob, { sha256, onProgress })
  assert.equal(value.sha256, hex)
  const sent = ranges.filter((range) => !range?.includes('*')).length
  assert.ok(ranges.length > sent + 1 && sent >= 3, ranges.join())
})

chaosTest('two clients that send the same version at once both succeed', async () => {
  const { blob, sha256 } = newContent(2 * partBytes + 7)
  const put = () => openClient().jobcast.files.put('app', '5', blob, { sha256 })
  for (const { value } of await Promise.all([put(), put()])) assert.equal(value.size, blob.size)
})

test('content that does not match its hash is refused once, and not sent again', async () => {
  const { jobcast, ranges } = openClient()
  const { blob } = newContent(partBytes + 1)
  const { sha256 } = newContent(1)
  await assert.rejects(jobcast.files.put('app', '4', blob, { sha256 }), (error) =>
    isJobcastError(error, 'J-508'),
  )
  assert.equal(ranges.length, 3)
})
