// Files whose content is in a bucket of a real S3-compatible store: the same for callers as in a folder.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { type OpenServer, openServer } from '@jobcast/testkit/open-server'
import { openS3Server, type S3Server, withoutS3 } from '@jobcast/testkit/s3-server'

const skip = { skip: withoutS3 }
const s3 = (withoutS3 ? undefined : await openS3Server({ after })) as S3Server
const inBucket = { filesFolder: undefined }
const type = { 'content-type': 'application/octet-stream' }
const digestOf = (content: Buffer) => `sha-256=:${createHash('sha256').update(content).digest('base64')}:`
const put = (api: Api, version: string, content: Buffer, headers: Record<string, string> = {}) =>
  api.call('PUT', `/job/api/files/app/${version}`, { rawBody: content, headers: { ...type, ...headers } })
const fetchContent = (api: Api, version: string, headers: Record<string, string> = {}) =>
  fetch(`${api.http}/job/api/files/app/${version}/content`, {
    headers: { 'x-api-key': api.adminKey, ...headers },
  })
type Readyz = { status: string; files: { state: string; lastError?: string } }
const readyzOf = async ({ server }: OpenServer) =>
  (await (await fetch(`${server.metrics}/readyz`)).json()) as Readyz

test('content is put, checked, continued and fetched in ranges', skip, async (t) => {
  const api = await openServer(t, { ...inBucket, filesBucket: s3.settings('whole') })
  const content = randomBytes(200_000)
  const wrong = await put(api, '1', content, { 'content-digest': digestOf(randomBytes(1)) })
  assert.deepEqual([wrong.status, wrong.json.code], [422, 'J-508'])
  assert.equal((await put(api, '1', content, { 'content-digest': digestOf(content) })).status, 201)
  assert.equal((await put(api, '1', content)).status, 200)
  const range = await fetchContent(api, '1', { range: 'bytes=10-19', 'if-range': 'other' })
  assert.equal(range.status, 200)
  assert.deepEqual(Buffer.from(await range.arrayBuffer()), content)
  const etag = range.headers.get('etag') ?? ''
  const part = await fetchContent(api, '1', { range: 'bytes=10-19', 'if-range': etag })
  assert.deepEqual([part.status, part.headers.get('content-range')], [206, 'bytes 10-19/200000'])
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), content.subarray(10, 20))

  const sendPart = (first: number, end: number) => {
    const range = { 'repr-digest': digestOf(content), 'content-range': `bytes ${first}-${end - 1}/200000` }
    return put(api, '2', content.subarray(first, end), range)
  }
  assert.equal((await sendPart(0, 70_000)).json.received, 70_000)
  assert.equal((await sendPart(60_000, 80_000)).json.code, 'J-323')
  assert.equal((await sendPart(70_000, 200_000)).status, 201)
  assert.deepEqual(Buffer.from(await (await fetchContent(api, '2')).arrayBuffer()), content)
  assert.deepEqual((await readyzOf(api)).files, { state: 'ok' })
})

test(
  'a bucket that does not respond is 503 with words, and wrong settings refuse the start',
  skip,
  async (t) => {
    const away = { ...inBucket, filesBucket: s3.settings('away', 'http://127.0.0.1:9') }
    const api = await openServer(t, away)
    const { status, json } = await put(api, '1', randomBytes(10))
    assert.deepEqual(
      [status, json.code, json.message],
      [503, 'J-909', 'Storage is not available: the bucket does not respond'],
    )
    assert.equal((await api.call('GET', '/job/api/files/app/1')).status, 404)
    const { status: ready, files } = await readyzOf(api)
    assert.deepEqual([ready, files.state], ['ok', 'unavailable'])
    assert.match(files.lastError ?? '', /127\.0\.0\.1:9\/jobcast-files\/away: the bucket does not respond/)

    const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'wrong' }
    const settings = { ...s3.settings('wrong'), credentials }
    await assert.rejects(
      openServer(t, { ...inBucket, filesBucket: settings }),
      /Files cannot be kept: .*the bucket rejects the credentials of the service/,
    )
  },
)
