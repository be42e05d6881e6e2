// Files in a bucket while things go wrong: a node is killed, the store is away or slow, two nodes work on one bucket, many download.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, buildApi } from '@jobcast/testkit/call-api'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { openServer } from '@jobcast/testkit/open-server'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { openS3Server, type S3Server, withoutS3 } from '@jobcast/testkit/s3-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { isChaos, longTest, testSize } from '@jobcast/testkit/test-size'
import { type Bucket, openBucket } from '../../src/store/files/bucket.ts'

const kills = testSize('kills', { test: 2, chaos: 10 })
const megabytes = testSize('megabytes', { test: 5, chaos: 25 })
const downloads = 64
const mostGrowthBytes = 50_000_000
const mib = 1024 * 1024
const options = { skip: withoutS3, ...longTest }
const s3 = (withoutS3 || !isChaos ? undefined : await openS3Server({ after })) as S3Server
const inBucket = (prefix: string, endpoint?: string) => ({
  filesFolder: undefined,
  filesBucket: s3.settings(prefix, endpoint),
})
const hashOf = (content: Uint8Array, encoding: 'hex' | 'base64' = 'hex') =>
  createHash('sha256').update(content).digest(encoding)
const digestOf = (content: Uint8Array) => `sha-256=:${hashOf(content, 'base64')}:`

function put(api: Api, version: string, content: Uint8Array, headers: Record<string, string> = {}) {
  return api.call('PUT', `/job/api/files/app/${version}`, {
    rawBody: content,
    headers: { 'content-type': 'application/octet-stream', 'repr-digest': digestOf(content), ...headers },
  })
}

/** A part of it; without `from` it only asks. */
async function sendPart(api: Api, version: string, content: Buffer, from?: number, bytes = 0) {
  const end = Math.min((from ?? 0) + bytes, content.length)
  const range = from === undefined ? '*' : `${from}-${end - 1}`
  return api.call('PUT', `/job/api/files/app/${version}`, {
    ...(from !== undefined && { rawBody: content.subarray(from, end) }),
    headers: {
      'content-type': 'application/octet-stream',
      'repr-digest': digestOf(content),
      'content-range': `bytes ${range}/${content.length}`,
    },
  })
}

async function fetchContent(api: Api, version: string): Promise<Buffer> {
  const url = `${api.http}/job/api/files/app/${version}/content`
  const reply = await fetch(url, { headers: { 'x-api-key': api.adminKey } })
  if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`)
  return Buffer.from(await reply.arrayBuffer())
}

/** Without the mark of the installation. */
async function leftIn(prefix: string): Promise<{ names: string[]; multiparts: number }> {
  const bucket: Bucket = await openBucket(s3.settings(prefix))
  try {
    const names = (await Array.fromAsync(bucket.list(''))).map(({ key }) => key)
    const multiparts = (await Array.fromAsync(bucket.listMultiparts())).length
    return { names: names.filter((name) => name !== 'installation'), multiparts }
  } finally {
    bucket.close()
  }
}

const keyOf = (content: Uint8Array) => `${hashOf(content).slice(0, 2)}/${hashOf(content)}`

chaosTest(
  `killed ${kills} times during uploads, each version is whole or not there (seed ${testSeed})`,
  options,
  async (t) => {
    const dataFolder = temporaryFolder(t)
    const random = seededRandom(testSeed)
    const start = () => startProgram(dataFolder, { env: s3.env('kills') }).ready
    // Two parts and a bit: what is killed has begun a multipart upload.
    const contentOf = (version: string) => Buffer.alloc(11 * mib, `content of ${version}, `)
    const answered = new Set<string>()
    const tried: string[] = []
    const large = randomBytes(12 * mib)
    let received = 0
    for (let kill = 0; kill < kills; kill++) {
      const server = await start()
      const asked = (await sendPart(server, 'large', large)).json.received
      assert.ok(asked >= received, `${received} bytes were answered, and ${asked} are there`)
      const callers = [0, 1].map(async (caller) => {
        const version = `${kill}.${caller}`
        tried.push(version)
        const reply = await put(server, version, contentOf(version)).catch(() => undefined)
        if (reply?.status === 201) answered.add(version)
      })
      const part = await sendPart(server, 'large', large, asked, 500_000)
      received = part.json.received
      const next = sendPart(server, 'large', large, received, 500_000).then(
        ({ json }) => json.received as number,
        () => undefined,
      )
      await sleep(random.below(2000))
      await server.end('SIGKILL')
      await Promise.all(callers)
      received = (await next) ?? received
    }
    const last = await openServer(t, { dataFolder, ...inBucket('kills') })
    for (const version of tried) {
      const content = contentOf(version)
      const { status } = await put(last, version, content)
      assert.equal(status, answered.has(version) ? 200 : status)
      assert.ok(hashOf(await fetchContent(last, version)) === hashOf(content), version)
    }
    let reply = await sendPart(last, 'large', large)
    assert.ok(reply.json.received >= received && received > 0)
    while (reply.status === 202) reply = await sendPart(last, 'large', large, reply.json.received, 4 * mib)
    assert.equal(reply.status, 201, reply.text)
    assert.deepEqual(hashOf(await fetchContent(last, 'large')), hashOf(large))
    t.diagnostic(`${tried.length} uploads, ${answered.size} of them answered before the kills`)
    await last.server.stop()
    // The clean-up of the next start removes what was left.
    await openServer(t, { dataFolder, ...inBucket('kills') })
    const wanted = [...tried.map((version) => keyOf(contentOf(version))), keyOf(large)].sort()
    for (let tries = 0; ; tries++) {
      const { names, multiparts } = await leftIn('kills')
      if (multiparts === 0 && names.length === wanted.length) {
        assert.deepEqual(names.sort(), wanted)
        break
      }
      assert.ok(tries < 100, `${multiparts} multipart uploads are left, and ${names.length} objects`)
      await sleep(300)
    }
  },
)

chaosTest(
  'a store that goes away in the middle is 503, and the same calls succeed once it is back',
  options,
  async (t) => {
    const proxy = await openCuttingProxy(t, s3.url)
    const api = await openServer(t, inBucket('away', proxy.url))
    const content = randomBytes(12 * mib)
    assert.equal((await put(api, '1', content)).status, 201)
    const other = randomBytes(12 * mib)
    let isOver = false
    const cutting = (async () => {
      while (!isOver) {
        await sleep(20)
        proxy.cutAll()
      }
    })()
    const cut = await Promise.all([put(api, '2', other), sendPart(api, '3', other, 0, 12 * mib)])
    isOver = true
    await cutting
    for (const { status, json } of cut)
      if (status >= 300) assert.deepEqual([status, json.code], [503, 'J-909'], json.message)
    assert.ok(cut.some(({ status }) => status === 503))
    assert.equal((await api.call('GET', '/job/api/runs')).status, 200)
    assert.ok((await put(api, '2', other)).status <= 201)
    let reply = await sendPart(api, '3', other)
    while (reply.status === 202) reply = await sendPart(api, '3', other, reply.json.received, 12 * mib)
    assert.ok(reply.status <= 201, reply.text)
    for (const version of ['2', '3']) assert.ok((await fetchContent(api, version)).equals(other))

    // A download whose connection to the store is cut continues, and its client notices nothing.
    proxy.cutAll()
    proxy.cutNext(2 * mib, 3 * mib)
    const before = proxy.connections
    assert.ok((await fetchContent(api, '1')).equals(content))
    assert.ok(proxy.connections >= before + 3)

    proxy.stall()
    const { status, json } = await put(api, '4', randomBytes(10))
    assert.deepEqual([status, json.message], [503, 'Storage is not available: the bucket does not respond'])
    proxy.resume()
    assert.equal((await put(api, '4', randomBytes(10))).status, 201)
  },
)

chaosTest(
  'two nodes share a bucket: an upload continues on the other one, and the same content is stored once',
  options,
  async (t) => {
    const databaseUrl = await createDatabase(await sharedPostgres())
    const secretsKeys = [Buffer.alloc(32, 7)]
    const open = () => openServer(t, { ...inBucket('nodes'), databaseUrl, secretsKeys })
    const one = await open()
    const two = buildApi((await open()).http, one.adminKey)
    const content = randomBytes(13 * mib)
    const first = await sendPart(one, '1', content, 0, 7 * mib)
    assert.equal(first.json.received, 7 * mib)
    const half = await Promise.all([one, two].map((node) => sendPart(node, '1', content, 7 * mib, 6 * mib)))
    assert.ok(
      half.every(({ status }) => [200, 201, 409].includes(status)),
      half.map(({ text }) => text).join(),
    )
    assert.ok((await fetchContent(one, '1')).equals(content))
    const both = await Promise.all([one, two].map((node, number) => put(node, `both.${number}`, content)))
    assert.deepEqual(
      both.map(({ status }) => status),
      [201, 201],
    )
    assert.deepEqual((await leftIn('nodes')).names, [keyOf(content)])
  },
)

chaosTest(
  `${downloads} downloads of ${megabytes} MB at once hold less than 50 MB more than 16`,
  options,
  async (t) => {
    const dataFolder = temporaryFolder(t)
    const start = () => startProgram(dataFolder, { env: s3.env('downloads') }).ready
    const first = await start()
    const content = randomBytes(megabytes * 1_000_000)
    for (const [version, bytes] of [
      ['small', content.subarray(0, 1000)],
      ['large', content],
    ] as const)
      assert.equal((await put(first, version, bytes)).status, 201)
    await first.end('SIGTERM')
    // A new process: what the upload took is not in the first measurement.
    const server = await start()
    t.after(() => server.end('SIGKILL'))
    const fetchAll = (version: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => fetchHash(server, version)))
    // V8 collects buffers late, whether one or many download: that is not what the downloads hold.
    await fetchAll('small', downloads)
    await fetchAll('large', 16)
    const before = residentBytes(server.pid)
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, residentBytes(server.pid))
    }, 100)
    t.after(() => clearInterval(watching))
    assert.deepEqual(new Set(await fetchAll('large', downloads)), new Set([hashOf(content)]))
    const growth = most - before
    t.diagnostic(
      `resident ${Math.round(before / 1e6)} MB before, ${Math.round(growth / 1e6)} MB more at most`,
    )
    assert.ok(growth <= mostGrowthBytes, `it grew by ${growth} bytes`)
  },
)

/** Read as it comes, so that this process holds little of it. */
async function fetchHash(api: Api, version: string): Promise<string> {
  const url = `${api.http}/job/api/files/app/${version}/content`
  const reply = await fetch(url, { headers: { 'x-api-key': api.adminKey } })
  assert.equal(reply.status, 200)
  const hash = createHash('sha256')
  for await (const chunk of reply.body ?? []) hash.update(chunk)
  return hash.digest('hex')
}

function residentBytes(pid: number): number {
  const [, kilobytes = 'NaN'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
