// Checks whether a bucket is suitable for files: it exists, and the service may list, put, get and delete objects in it.

import { randomUUID } from 'node:crypto'
import { BucketUnavailable } from '../../domain/common/ports/storage-errors.ts'
import { type Bucket, openBucket } from './bucket.ts'
import { type BucketTrouble, troubleOf } from './bucket-errors.ts'
import { type BucketSettings, describeBucket } from './bucket-settings.ts'
import { openDirectUrls } from './presigned-urls.ts'

/** `isLasting`: the problem persists until a setting is changed. */
type BucketProblem = { isLasting: boolean; text: string }

const directMs = 15_000

const advice: Record<BucketTrouble, string> = {
  unreachable: 'check the address in files-s3, and the network',
  busy: 'try again later',
  missing: 'create it, or correct files-s3',
  credentials: 'check JOBCAST_FILES_S3_ACCESS_KEY_ID and JOBCAST_FILES_S3_SECRET_ACCESS_KEY, or those of AWS',
  denied: 'permit s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject and those of multipart uploads',
  address: 'check files-s3 and files-s3-region',
  clock: 'set the clock of this machine',
  other: 'check files-s3',
}

export async function examineBucket(settings: BucketSettings): Promise<BucketProblem | undefined> {
  const bucket = await openBucket(settings)
  try {
    return await examineOpen(bucket, describeBucket(settings))
  } finally {
    bucket.close()
  }
}

/** Fetches an object by a signed URL, as devices do. Not lasting: this machine cannot, but devices may be in another network. */
export async function examineDirect(settings: BucketSettings): Promise<BucketProblem | undefined> {
  const bucket = await openBucket(settings)
  const key = `check/${randomUUID()}`
  try {
    const urls = await openDirectUrls({ bucket, settings, now: Date.now })
    if (urls === undefined) return undefined
    await bucket.put(key, Buffer.from('jobcast'))
    const url = await urls.ofObject(settings.prefix + key)
    const response = await fetch(url, { signal: AbortSignal.timeout(directMs), redirect: 'error' })
    if ((await response.text()) === 'jobcast') return undefined
    return {
      isLasting: true,
      text: `${settings.direct} answers ${response.status} to a signed URL of the bucket`,
    }
  } catch (error) {
    const isOfBucket = error instanceof BucketUnavailable
    const text = isOfBucket
      ? error.message
      : `${settings.direct} does not respond from this machine; devices must reach it`
    return { isLasting: false, text }
  } finally {
    await bucket.remove(key).catch(() => undefined)
    bucket.close()
  }
}

export async function examineOpen(bucket: Bucket, where: string): Promise<BucketProblem | undefined> {
  const key = `check/${randomUUID()}`
  const content = Buffer.from('jobcast')
  try {
    await bucket.check()
    await bucket.put(key, content)
    const found = await bucket.read(key)
    await bucket.remove(key)
    if (found?.equals(content)) return undefined
    return {
      isLasting: true,
      text: `the bucket ${where} does not return what was put into it; is it one of S3?`,
    }
  } catch (error) {
    if (!(error instanceof BucketUnavailable)) throw error
    const trouble = troubleOf(error.reason)
    const isLasting = trouble !== 'unreachable' && trouble !== 'busy'
    return { isLasting, text: `${error.message}: ${advice[trouble]}` }
  }
}
