// Signed URLs of a bucket with the credentials that the SDK of AWS finds: only those that last for the hour are used for content.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { BucketUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import { openBucket } from '../../../src/store/files/bucket.ts'
import { openDirectUrls } from '../../../src/store/files/presigned-urls.ts'

const now = Date.parse('2026-11-15T09:30:00.000Z')
const sha256 = 'a'.repeat(64)

async function open(t: TestContext, env: Record<string, string>) {
  const before = { ...process.env }
  t.after(() => {
    process.env = before
  })
  const none = { AWS_EC2_METADATA_DISABLED: 'true', HOME: temporaryFolder(t) }
  process.env = { PATH: before.PATH, ...none, ...env }
  const settings = {
    ...{ endpoint: 'http://minio:9000', direct: 'https://s3.example.com', bucket: 'files', prefix: 'a/' },
    ...{ region: 'eu-central-1', credentials: undefined },
  }
  const bucket = await openBucket(settings)
  t.after(() => bucket.close())
  const urls = await openDirectUrls({ bucket, settings, now: () => now })
  assert.ok(urls)
  return urls
}

const temporary = (minutes: number) => ({
  ...{ AWS_ACCESS_KEY_ID: 'ASIA', AWS_SECRET_ACCESS_KEY: 'hidden', AWS_SESSION_TOKEN: 'a/session+token' },
  AWS_CREDENTIAL_EXPIRATION: new Date(now + minutes * 60_000).toISOString(),
})

test('temporary credentials that last for more than an hour sign content', async (t) => {
  const urls = await open(t, temporary(61))
  const url = new URL((await urls.ofContent(sha256)) ?? '')
  assert.equal(url.origin + url.pathname, `https://s3.example.com/files/a/aa/${sha256}`)
  const { 'X-Amz-Signature': signature, ...fields } = Object.fromEntries(url.searchParams)
  assert.match(signature ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual(fields, {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD',
    'X-Amz-Credential': 'ASIA/20261115/eu-central-1/s3/aws4_request',
    ...{ 'X-Amz-Date': '20261115T093000Z', 'X-Amz-Expires': '3600' },
    ...{ 'X-Amz-Security-Token': 'a/session+token', 'X-Amz-SignedHeaders': 'host' },
  })
})

test('those that end earlier sign only objects that documents name', async (t) => {
  const urls = await open(t, temporary(59))
  assert.equal(await urls.ofContent(sha256), undefined)
  const url = await urls.ofObject("other/ü (1)'.bin")
  assert.ok(url.startsWith('https://s3.example.com/files/other/%C3%BC%20%281%29%27.bin?'), url)
})

test('without credentials there is no URL of content, and an object is not available', async (t) => {
  const urls = await open(t, {})
  assert.equal(await urls.ofContent(sha256), undefined)
  await assert.rejects(urls.ofObject('other/a'), BucketUnavailable)
})
