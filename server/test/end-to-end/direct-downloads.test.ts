// Devices fetch from the bucket itself, by URLs that are signed for it: files of this service, and objects that documents name as AWS has them.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { newDdiDevice } from '@jobcast/testkit/call-ddi'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { openS3Server, type S3Server, withoutS3 } from '@jobcast/testkit/s3-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { examineDirect } from '../../src/store/files/examine-bucket.ts'

const skip = { skip: withoutS3 }
const s3 = (withoutS3 ? undefined : await openS3Server({ after })) as S3Server
const secret = 'testing'
const bucket = 'jobcast-files'
const content = randomBytes(200_000)
const sha256 = createHash('sha256').update(content).digest('hex')

const through = (prefix: string) => ({ filesFolder: undefined, filesBucket: s3.settings(prefix) })
/** Devices have another name for the host. */
const directUrl = s3?.url.replace('127.0.0.1', 'localhost')
const direct = (prefix: string) => ({
  ...through(prefix),
  filesBucket: { ...s3.settings(prefix), direct: directUrl, placeholders: ['images', 'plain', 'own'] },
})
const putFile = (api: Api) =>
  api.call('PUT', '/job/api/files/app/1', {
    rawBody: content,
    headers: { 'content-type': 'application/octet-stream' },
  })
const putJob = (api: Api, document: object) =>
  api.call('PUT', '/job/api/jobs/update', {
    body: { document },
    headers: { accept: 'application/problem+json' },
  })

const shared = withoutS3
  ? undefined
  : await openSharedServer({ ...direct('own'), ddiPollSeconds: 300, maxDownloads: 1 })
const api = shared as Api
if (shared) assert.equal((await putFile(shared)).status, 201)

async function handOut(api: Api, deviceId: string) {
  const device = await newDevice(api, deviceId)
  const reply = await api.trigger('update', [deviceId])
  assert.equal(reply.status, 201, reply.text)
  const { execution } = (await device.startNext()).json
  return { device, execution, document: JSON.parse(execution.jobDocument) }
}

test(
  'a file is fetched from the bucket, whole and in ranges, and is no download of this service',
  skip,
  async () => {
    await putJob(api, { files: ['app'], url: '${file.app@1.url}' })
    const { execution, document } = await handOut(api, 'fetches')
    const { url, ...facts } = execution.files.app
    assert.deepEqual([facts.sha256, facts.size], [sha256, content.length])
    for (const each of [url, document.url]) {
      assert.ok(each.startsWith(`${directUrl}/${bucket}/own/${sha256.slice(0, 2)}/${sha256}?`), each)
      assert.equal(new URL(each).searchParams.get('X-Amz-Expires'), '3600')
      assert.ok(!each.includes(secret))
    }
    const many = await Promise.all(Array.from({ length: 8 }, () => fetch(url)))
    for (const each of many) assert.deepEqual(Buffer.from(await each.arrayBuffer()), content)
    const etag = many[0]?.headers.get('etag') ?? ''
    const ranged = (ifRange: string) =>
      fetch(url, { headers: { range: 'bytes=100-199', ...(ifRange && { 'if-range': ifRange }) } })
    const part = await ranged(etag)
    assert.deepEqual(
      [part.status, part.headers.get('content-range')],
      [206, `bytes 100-199/${content.length}`],
    )
    assert.deepEqual(Buffer.from(await part.arrayBuffer()), content.subarray(100, 200))
    // The URL is for this object and this time only.
    assert.equal((await fetch(url.replace(sha256, sha256.replace(/.$/, '_')))).status, 403)
    assert.equal((await fetch(url.replace('X-Amz-Expires=3600', 'X-Amz-Expires=36000'))).status, 403)
    assert.equal((await fetch(url, { method: 'DELETE' })).status, 403)
    // People get no signed URL, and their downloads are of this service.
    const shown = await api.call('GET', `/job/api/executions/${execution.jobId}/document`)
    assert.equal(shown.json.url, '/files/app/1')
    const own = await fetch(`${api.http}/job/api/files/app/1/content`, {
      headers: { 'x-api-key': api.adminKey },
    })
    assert.deepEqual(Buffer.from(await own.arrayBuffer()), content)
  },
)

test('an hour later the store answers 403, and the document has a new URL', skip, async (t) => {
  const clock = { behindMs: 2 * 60 * 60_000 }
  const filesBucket = { ...direct('').filesBucket, prefix: '', placeholders: [''] }
  const api = await openServer(t, { ...direct(''), filesBucket, now: () => Date.now() - clock.behindMs })
  await putFile(api)
  await putJob(api, { files: ['app'] })
  const { execution, device } = await handOut(api, 'late')
  const expired = await fetch(execution.files.app.url)
  assert.equal(expired.status, 403, await expired.text())
  clock.behindMs = 0
  const again = await device.call('GET', `/${execution.jobId}?includeJobDocument=true`)
  assert.equal((await fetch(again.json.execution.files.app.url)).status, 200)
  // All of the bucket belongs to this service.
  const { json } = await putJob(api, { url: `\${aws:iot:s3-presigned-url:${bucket}/a}` })
  assert.match(json.detail, /files-s3 must name a folder of the bucket/)
})

test(
  'without files-s3-direct URLs are those of this service, and there are none of objects',
  skip,
  async (t) => {
    const dataFolder = temporaryFolder(t)
    const first = await openServer(t, { ...direct('through'), dataFolder })
    const placeholder = `\${aws:iot:s3-presigned-url-v2:https://s3.amazonaws.com/${bucket}/plain}`
    assert.equal((await putJob(first, { url: placeholder })).status, 201)
    await newDevice(first, 'earlier')
    const [{ jobExecutionId }] = (await first.trigger('update', ['earlier'])).json
    await first.server.stop()

    const api = await openServer(t, { ...through('through'), dataFolder })
    const earlier = await newDevice(api, 'earlier')
    assert.equal((await earlier.startNext()).json.execution, undefined)
    const ended = await api.call('GET', `/job/api/executions/${jobExecutionId}?wait=30`)
    assert.equal(ended.json.execState, 'CANCELED', ended.text)
    const explained = await api.call('GET', `/job/api/executions/${jobExecutionId}/explain`)
    assert.match(explained.text, /files-s3-placeholders do not permit an object that the document names/)
    const refused = await putJob(api, { url: placeholder })
    assert.deepEqual([refused.status, refused.json.code], [400, 'J-500'])
    assert.match(refused.json.detail, /files-s3 and files-s3-direct are not both set/)
    await putFile(api)
    await putJob(api, { files: ['app'] })
    const { execution } = await handOut(api, 'through')
    assert.ok(execution.files.app.url.startsWith(`${api.http}/files/app/1?`))
  },
)

test('devices of hawkBit fetch from this service all the same', skip, async () => {
  await putJob(api, { files: ['app'] })
  const device = await newDdiDevice(api, 'swupdate')
  const [{ jobExecutionId }] = (await api.trigger('update', ['swupdate'])).json
  const { json } = await device.call('GET', `/deploymentBase/${jobExecutionId}`)
  const { href } = json.deployment.chunks[0].artifacts[0]._links.download
  assert.ok(href.startsWith(`${api.http}/DEFAULT/controller/v1/`), href)
  assert.deepEqual(Buffer.from(await (await fetch(href)).arrayBuffer()), content)
})

test("AWS's placeholder becomes a signed URL of the object, in each of its forms", skip, async () => {
  const key = "images/my app (1) + ü's.bin"
  await s3.put(key, Buffer.from('an image'))
  await s3.put('plain', Buffer.from('plain'))
  const encoded = key.split('/').map(encodeURIComponent).join('/')
  const host = new URL(directUrl).host
  const named = (location: string, version = '-v2') => `\${aws:iot:s3-presigned-url${version}:${location}}`
  const urls = [
    named(`https://${bucket}.s3.eu-central-1.amazonaws.com/${encoded}`),
    named(`https://s3.eu-central-1.amazonaws.com/${bucket}/${encoded}`),
    named(`https://s3.amazonaws.com/${bucket}/${encoded}`, ''),
    named(`https://${bucket}.s3-eu-west-1.amazonaws.com/${encoded}`, ''),
    named(`https://s3.cn-north-1.amazonaws.com.cn/${bucket}/${encoded}`),
    named(`http://${host}/${bucket}/${encoded}`),
    named(`http://${bucket}.${host}/${encoded}`),
    named(`${bucket}/${encoded}`, ''),
  ]
  const put = await putJob(api, { urls, args: ['get', `from ${named(`${bucket}/plain`)}`] })
  assert.ok(put.status < 300, put.text)
  const { document, execution } = await handOut(api, 'named')
  for (const url of document.urls) {
    const fetched = await fetch(url)
    assert.deepEqual([fetched.status, await fetched.text()], [200, 'an image'])
  }
  assert.equal(await (await fetch(document.args[1].slice('from '.length))).text(), 'plain')
  assert.equal(execution.files, undefined)
  const shown = await api.call('GET', `/job/api/executions/${execution.jobId}/document`)
  assert.deepEqual(shown.json.urls[1], `https://s3.eu-central-1.amazonaws.com/${bucket}/${encoded}`)
})

test('a placeholder for another bucket, or for content of this service, is J-500', skip, async () => {
  const key = `${sha256.slice(0, 2)}/${sha256}`
  const aws = 'https://s3.eu-central-1.amazonaws.com'
  for (const [location, problem] of [
    [`${aws}/${bucket}/own/${key}`, /keys under own\/ belong to this service/],
    [`${aws}/${bucket}/%6Fwn/${key}`, /keys under own\/ belong to this service/],
    [`${aws}/${bucket}/other/../own/${key}`, /a part \. or \.\./],
    [`${aws}/${bucket}/other/%2e%2e/own/${key}`, /a part \. or \.\./],
    [`${aws}/${bucket}/other/%2e%2e%2fown/${key}`, /a part \. or \.\./],
    [`${aws}/${bucket}//own/${key}`, /an empty part/],
    [`${bucket}/own/${key}`, /keys under own\/ belong/],
    [`${aws}/another/a`, /the bucket of files-s3 is jobcast-files, not another/],
    [`https://another.s3.amazonaws.com/a`, /the bucket of files-s3 is jobcast-files, not another/],
    [`https://evil.example/${bucket}/a`, /evil\.example is neither an address of S3 at AWS nor/],
    [`https://${bucket}.s3.amazonaws.com.evil.example/a`, /is neither an address of S3/],
    [`${aws}/${bucket}/a?versionId=1`, /versions of objects are not supported/],
    [`${aws}/${bucket}/a%ZZ`, /its key is not encoded as a URL/],
    [`${aws}/${bucket}/${'a'.repeat(1025)}`, /its key has more than 1024 bytes/],
    [`${aws}/${bucket}/`, /it names no object/],
    [`ftp://s3.amazonaws.com/${bucket}/a`, /it has no URL of an object/],
    [`https://user@s3.amazonaws.com/${bucket}/a`, /it has no URL of an object/],
  ] as const) {
    const { status, json } = await putJob(api, { url: `\${aws:iot:s3-presigned-url-v2:${location}}` })
    assert.deepEqual([status, json.code], [400, 'J-500'], location)
    assert.match(json.detail, problem)
  }
})

test('documents name only what files-s3-placeholders names, and nothing without it', skip, async (t) => {
  const named = (key: string) => ({ url: `\${aws:iot:s3-presigned-url-v2:${bucket}/${key}}` })
  for (const key of ['images/a', 'images/b/c', 'plain'])
    assert.ok((await putJob(api, named(key))).status < 300, key)
  for (const key of ['private/a', 'images', 'images-2/a', 'Images/a', 'plain2', '%70rivate/a']) {
    const { status, json } = await putJob(api, named(key))
    if (key === 'images') assert.ok(status < 300)
    else assert.match(json.detail, /files-s3-placeholders does not name the object/, key)
  }
  const dataFolder = temporaryFolder(t)
  const filesBucket = { ...s3.settings('careful'), direct: directUrl }
  const before = await openServer(t, {
    ...{ dataFolder, filesFolder: undefined },
    filesBucket: { ...filesBucket, placeholders: [''] },
  })
  assert.equal((await putJob(before, named('private/a'))).status, 201)
  await newDevice(before, 'careful')
  const [{ jobExecutionId }] = (await before.trigger('update', ['careful'])).json
  await before.server.stop()
  // What was put before is not handed out either.
  const after = await openServer(t, { dataFolder, filesFolder: undefined, filesBucket })
  const refused = await putJob(after, named('images/a'))
  assert.deepEqual([refused.status, refused.json.code], [400, 'J-500'])
  assert.match(refused.json.detail, /files-s3-placeholders is not set/)
  assert.equal((await (await newDevice(after, 'careful')).startNext()).json.execution, undefined)
  const ended = await after.call('GET', `/job/api/executions/${jobExecutionId}?wait=30`)
  assert.equal(ended.json.execState, 'CANCELED', ended.text)
})

test('doctor fetches by a signed URL, as devices do', skip, async () => {
  const settings = direct('examined').filesBucket
  assert.equal(await examineDirect(settings), undefined)
  assert.equal(await examineDirect(s3.settings('examined')), undefined)
  const away = await examineDirect({ ...settings, direct: 'http://127.0.0.1:9' })
  assert.equal(away?.isLasting, false)
  assert.match(away.text, /^http:\/\/127\.0\.0\.1:9 does not respond from this machine/)
  const another = await examineDirect({ ...settings, direct: api.http })
  assert.equal(another?.isLasting, true)
  assert.match(another.text, /answers 404 to a signed URL of the bucket/)
})
