// Uploads in parts: they continue after an interruption, also with another key of the owner, and only content with the right hash is stored.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ErrorCode, errorCatalogue, fileReferenceType } from '@jobcast/contract'
import { noQuotas } from '@jobcast/server'
import type { Reply } from '@jobcast/testkit/call-api'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { testSeed } from '@jobcast/testkit/test-seed'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer({
  maxFileBytes: 300_000,
  quotas: { ...noQuotas, 'owner-file-bytes': 2_000_000 },
})
const digestOf = (content: Uint8Array) => `sha-256=:${createHash('sha256').update(content).digest('base64')}:`

/** Sends what `range` says of it; null: asks. */
function sendPart(
  path: string,
  content: Uint8Array,
  range: [first: number, end: number] | null,
  { key = api.adminKey, headers = {} }: { key?: string; headers?: Record<string, string> } = {},
) {
  const part = range && content.subarray(...range)
  return api.call('PUT', `/job/api/files/${path}`, {
    key,
    ...(part && { rawBody: part }),
    headers: {
      'content-type': 'application/octet-stream',
      'repr-digest': digestOf(content),
      'content-range': `bytes ${range ? `${range[0]}-${range[1] - 1}` : '*'}/${content.length}`,
      ...headers,
    },
  })
}

/** The message may continue. */
function assertRefused({ status, json }: Reply, code: ErrorCode): void {
  assert.deepEqual([status, json.code], [errorCatalogue[code].status, code], json.message)
}

async function contentOf(path: string, key = api.adminKey): Promise<Buffer> {
  const reply = await fetch(`${api.http}/job/api/files/${path}/content`, { headers: { 'x-api-key': key } })
  assert.equal(reply.status, 200)
  return Buffer.from(await reply.arrayBuffer())
}

/** What is in the folder of uploads, of all owners. */
function begun(): string[] {
  const folder = join(api.folder, 'files', 'uploads')
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((owner) => readdirSync(join(folder, owner)))
}

test('parts are put together; each answer says how much is there, and the last one is the version', async () => {
  const content = randomBytes(200_000)
  const { status, json } = await sendPart('app/1', content, null)
  const { expiresAt, ...asked } = json
  assert.deepEqual([status, asked], [202, { fileName: 'app', version: '1', size: 200_000, received: 0 }])
  assert.ok(Date.parse(expiresAt) > Date.now() + 23 * 60 * 60_000)
  assert.deepEqual(begun(), [])
  const first = await sendPart('app/1', content, [0, 70_000])
  assert.deepEqual([first.status, first.json.received], [202, 70_000])
  assert.equal((await sendPart('app/1', content, null)).json.received, 70_000)
  const second = await sendPart('app/1', content, [70_000, 199_999])
  assert.deepEqual([second.status, second.json.received], [202, 199_999])
  assertRefused(await api.call('GET', '/job/api/files/app/1'), 'J-319')
  const last = await sendPart('app/1', content, [199_999, 200_000])
  assert.equal(last.status, 201, last.text)
  assert.deepEqual([last.json.size, last.json.isNewest], [200_000, true])
  assert.deepEqual(await contentOf('app/1'), content)
  assert.deepEqual(begun(), [])
  for (const range of [null, [0, 100], [0, 200_000]] as const)
    assert.equal((await sendPart('app/1', content, range && [...range])).status, 200)
  assertRefused(await sendPart('app/1', randomBytes(10), [0, 5]), 'J-320')
  assert.deepEqual(begun(), [])
})

test('a part at another byte is J-323, which names the right one, and changes nothing', async () => {
  const content = randomBytes(1000)
  const wrong = async (range: [number, number], right: number) => {
    const { status, json } = await sendPart('app/2', content, range)
    assert.deepEqual(
      [status, json.code, json.message],
      [409, 'J-323', `The upload continues at another byte: ${right}`],
    )
  }
  await wrong([500, 1000], 0)
  await sendPart('app/2', content, [0, 400])
  await wrong([0, 400], 400)
  await wrong([399, 1000], 400)
  await wrong([401, 1000], 400)
  assert.equal((await sendPart('app/2', content, [400, 1000])).status, 201)
})

test('with a wrong hash at the end the answer is J-508, nothing is kept, and it starts again', async () => {
  const content = randomBytes(1000)
  const headers = { 'repr-digest': digestOf(content) }
  const spoiled = Buffer.from(content)
  spoiled[10] = (spoiled[10] ?? 0) ^ 1
  await sendPart('app/3', spoiled, [0, 600], { headers })
  assertRefused(await sendPart('app/3', spoiled, [600, 1000], { headers }), 'J-508')
  assert.deepEqual(begun(), [])
  assertRefused(await api.call('GET', '/job/api/files/app/3'), 'J-319')
  assert.equal((await sendPart('app/3', content, null)).json.received, 0)
  assert.equal((await sendPart('app/3', content, [0, 1000])).status, 201)
})

test('another key of the owner continues, and another owner sees nothing of it', async () => {
  const content = randomBytes(1000)
  const { apiKey: colleague } = await api.newKey(['MANAGE'])
  const { key: stranger } = await api.newOwner('another-owner')
  await sendPart('app/4', content, [0, 400])
  assert.equal((await sendPart('app/4', content, null, { key: colleague })).json.received, 400)
  assert.equal((await sendPart('app/4', content, null, { key: stranger })).json.received, 0)
  assertRefused(await sendPart('app/4', content, [400, 1000], { key: stranger }), 'J-323')
  assert.equal((await sendPart('app/4', content, [400, 1000], { key: colleague })).status, 201)
  assertRefused(await api.call('GET', '/job/api/files/app/4', { key: stranger }), 'J-319')
  assert.deepEqual(begun(), [])
})

test(`cut at any byte, an upload continues with what has arrived (seed ${testSeed})`, async () => {
  const random = seededRandom(testSeed)
  const content = randomBytes(250_000)
  const received = async () => (await sendPart('app/5', content, null)).json.received as number
  let at = 0
  for (let cut = 0; cut < 12; cut++) {
    const rest = content.length - at
    const sent = random.below(Math.min(rest, 40_000))
    const socket = connect(Number(new URL(api.http).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `PUT /job/api/files/app/5 HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.adminKey}\r\n` +
        `repr-digest: ${digestOf(content)}\r\ncontent-length: ${rest}\r\n` +
        `content-range: bytes ${at}-${content.length - 1}/${content.length}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.write(content.subarray(at, at + sent), resolve))
    const expected = at + sent
    await waitUntil('all that was sent has arrived', async () => (await received()) === expected)
    socket.destroy()
    at = expected
  }
  assert.equal((await sendPart('app/5', content, [at, content.length])).status, 201)
  assert.deepEqual(await contentOf('app/5'), content)
})

test('two clients that send the same version at once both succeed, and do no harm', async () => {
  const content = randomBytes(200_000)
  const send = async (): Promise<number> => {
    for (;;) {
      const asked = await sendPart('app/6', content, null)
      if (asked.status !== 202) return asked.status
      const at: number = asked.json.received
      const sent = await sendPart('app/6', content, [at, Math.min(at + 9000, content.length)])
      if (sent.status < 202) return sent.status
      if (sent.status !== 202) assertRefused(sent, 'J-323')
    }
  }
  const statuses = await Promise.all([send(), send(), send()])
  assert.ok(statuses.includes(201), statuses.join())
  assert.deepEqual(await contentOf('app/6'), content)
  assert.deepEqual(begun(), [])
})

test('of two clients with different content for one version, the first to end wins', async () => {
  const [one, two] = [randomBytes(1000), randomBytes(1000)]
  await sendPart('app/7', one, [0, 600])
  await sendPart('app/7', two, [0, 500])
  assert.equal((await sendPart('app/7', one, null)).json.received, 600)
  assert.equal((await sendPart('app/7', two, [500, 1000])).status, 201)
  assertRefused(await sendPart('app/7', one, [600, 1000]), 'J-320')
  assert.deepEqual(await contentOf('app/7'), two)
})

test('what has begun counts against the quota of bytes as a whole, and there are at most 32', async () => {
  const { key } = await api.newOwner('with-quota')
  const large = Array.from({ length: 7 }, () => randomBytes(300_000))
  for (const [index, content] of large.entries()) {
    const reply = await sendPart(`large/${index}`, content, [0, 1], { key })
    if (index < 6) assert.equal(reply.status, 202)
    else assertRefused(reply, 'J-912')
  }
  const whole = await api.call('PUT', '/job/api/files/large/whole', { key, rawBody: randomBytes(250_000) })
  assertRefused(whole, 'J-912')
  const [first = Buffer.alloc(0)] = large
  assert.equal((await sendPart('large/0', first, [1, 300_000], { key })).status, 201)
  const { key: one } = await api.newOwner('with-one-name')
  for (let index = 0; index < 7; index++) {
    // Of one version and with one hash, and yet each is another.
    const headers = { 'repr-digest': digestOf(first) }
    const reply = await sendPart('one/1', randomBytes(299_000 + index), [0, 1], { key: one, headers })
    if (index < 6) assert.equal(reply.status, 202)
    else assertRefused(reply, 'J-912')
  }
  const { key: many } = await api.newOwner('with-many')
  const small = Array.from({ length: 33 }, () => randomBytes(10))
  for (const [index, content] of small.entries()) {
    const reply = await sendPart(`small/${index}`, content, [0, 1], { key: many })
    if (index < 32) assert.equal(reply.status, 202)
    else assertRefused(reply, 'J-912')
  }
  assert.equal((await sendPart('small/0', small[0] ?? first, [1, 10], { key: many })).status, 201)
  assert.equal((await sendPart('small/32', small[32] ?? first, [0, 1], { key: many })).status, 202)
})

const wrongHeaders: [string, Record<string, string>, code: ErrorCode][] = [
  ['a range of another unit', { 'content-range': 'lines 0-9/10' }, 'J-500'],
  ['a range without a size', { 'content-range': 'bytes 0-9/*' }, 'J-500'],
  ['a range beyond the size', { 'content-range': 'bytes 0-10/10' }, 'J-500'],
  ['a range that ends before it begins', { 'content-range': 'bytes 9-0/10' }, 'J-500'],
  ['a size of nothing', { 'content-range': 'bytes */0' }, 'J-500'],
  ['another length than the range', { 'content-range': 'bytes 0-8/10' }, 'J-500'],
  ['no digest', { 'repr-digest': 'sha-512=:AAAA:' }, 'J-500'],
  ['the digest of the part', { 'content-digest': digestOf(Buffer.alloc(10)) }, 'J-500'],
  ['a reference', { 'content-type': fileReferenceType }, 'J-500'],
  ['content that is encoded', { 'content-encoding': 'gzip' }, 'J-905'],
  ['a size above max-file-bytes', { 'content-range': 'bytes 0-9/300001' }, 'J-904'],
]
for (const [what, headers, code] of wrongHeaders) {
  test(`a part with ${what} is ${code}`, async () => {
    assertRefused(await sendPart('wrong/1', Buffer.alloc(10), [0, 10], { headers }), code)
    assert.deepEqual(
      begun().filter((name) => name.startsWith('wrong@')),
      [],
    )
  })
}

test('Digest, the older form, names the whole content as well', async () => {
  const content = randomBytes(100)
  const digest = digestOf(content).replaceAll(':', '')
  const sent = (range: [number, number]) => {
    const part = content.subarray(...range)
    const headers = { digest, 'content-range': `bytes ${range[0]}-${range[1] - 1}/100` }
    return api.call('PUT', '/job/api/files/app/8', { rawBody: part, headers })
  }
  assert.equal((await sent([0, 50])).status, 202)
  assert.equal((await sent([50, 100])).status, 201)
})

test('Repr-Digest is checked for content that arrives at once, too', async () => {
  const headers = { 'repr-digest': digestOf(Buffer.from('another')) }
  assertRefused(await api.call('PUT', '/job/api/files/app/9', { rawBody: 'content', headers }), 'J-508')
})
