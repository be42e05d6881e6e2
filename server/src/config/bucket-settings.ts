// Settings for a bucket that content of files is kept in (files-s3).

import type { BucketSettings } from '../store/files/bucket-settings.ts'
import { ConfigError } from './config-error.ts'
import { readSecret } from './secret-setting.ts'
import type { SettingName } from './settings.ts'

type Read = (name: SettingName) => unknown

/** For stores that have no regions. */
const defaultRegion = 'us-east-1'
const bucketPattern = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const prefixPattern = /^(?:[A-Za-z0-9_.-]{1,64}\/){0,8}$/

export function readBucket(
  read: Read,
  env: NodeJS.ProcessEnv,
  problems: string[],
): BucketSettings | undefined {
  const accessKeyId = readSecret('JOBCAST_FILES_S3_ACCESS_KEY_ID', env, problems)
  const secretAccessKey = readSecret('JOBCAST_FILES_S3_SECRET_ACCESS_KEY', env, problems)
  const address = read('files-s3') as string | undefined
  const region = read('files-s3-region') as string | undefined
  const direct = read('files-s3-direct') as string | undefined
  const placeholders = read('files-s3-placeholders') as string | undefined
  if (address === undefined) {
    const given = {
      'files-s3-region': region,
      'files-s3-direct': direct,
      'files-s3-placeholders': placeholders,
      JOBCAST_FILES_S3_ACCESS_KEY_ID: accessKeyId,
    }
    for (const [name, value] of Object.entries({
      ...given,
      JOBCAST_FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
    }))
      if (value !== undefined) problems.push(`${name} is set, but files-s3 is not`)
    return undefined
  }
  if (read('files-folder') !== undefined)
    problems.push('files-s3 and files-folder are both set; set one of them')
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    const both = 'JOBCAST_FILES_S3_ACCESS_KEY_ID and JOBCAST_FILES_S3_SECRET_ACCESS_KEY'
    problems.push(`${both} must be set together`)
  }
  const place = placeOf(address)
  if (place === undefined) {
    // The message does not contain the text, which may have a password.
    problems.push(
      'files-s3 must have the form https://s3.example.com/bucket, or https://s3.example.com/bucket/folder',
    )
    return undefined
  }
  if (direct !== undefined && !isEndpoint(direct))
    problems.push('files-s3-direct must have the form https://s3.example.com, without the bucket')
  if (direct === undefined && placeholders !== undefined)
    problems.push('files-s3-placeholders is set, but files-s3-direct is not')
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined
  const shared = { ...place, region: region ?? regionOf(place.endpoint), credentials }
  if (direct === undefined) return shared
  return {
    ...{ ...shared, direct: direct.replace(/\/$/, '') },
    ...(placeholders !== undefined && {
      placeholders: readPlaceholders(placeholders, place.bucket, problems),
    }),
  }
}

/** Keys in the bucket. An address in full, as in the placeholder, is not accepted. */
function readPlaceholders(text: string, bucket: string, problems: string[]): string[] {
  return text.split(',').map((entry) => {
    const [named, ...parts] = entry.trim().replace(/\/$/, '').split('/')
    if (named !== bucket || parts.some((part) => part === '' || part === '.' || part === '..'))
      problems.push(`files-s3-placeholders must have the form ${bucket}/folder,${bucket}/folder/object`)
    return parts.join('/')
  })
}

/** Loads a bucket by its address, with the credentials of the environment. */
export function loadBucket(address: string, env: NodeJS.ProcessEnv): BucketSettings {
  const given: Partial<Record<SettingName, unknown>> = {
    'files-s3': address,
    'files-s3-region': env.JOBCAST_FILES_S3_REGION || undefined,
    'files-s3-direct': env.JOBCAST_FILES_S3_DIRECT || undefined,
  }
  const problems: string[] = []
  const settings = readBucket((name) => given[name], env, problems)
  if (settings === undefined || problems.length > 0) throw new ConfigError(problems)
  return settings
}

function placeOf(address: string): Pick<BucketSettings, 'endpoint' | 'bucket' | 'prefix'> | undefined {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  const [, bucket = '', ...folders] = url.pathname.replace(/\/$/, '').split('/')
  const prefix = folders.map((each) => `${each}/`).join('')
  if (!bucketPattern.test(bucket) || !prefixPattern.test(prefix)) return undefined
  return { endpoint: url.origin, bucket, prefix }
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
}

/** In the form of AWS: s3.eu-central-1.amazonaws.com. */
function regionOf(endpoint: string): string {
  const match = /\bs3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com/.exec(endpoint)
  return match?.[1] ?? defaultRegion
}
