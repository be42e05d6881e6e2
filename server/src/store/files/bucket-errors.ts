// Describes errors of a bucket.

import { BucketUnavailable } from '../../domain/common/ports/storage-errors.ts'

export type BucketTrouble =
  | 'unreachable'
  | 'busy'
  | 'missing'
  | 'credentials'
  | 'denied'
  | 'address'
  | 'clock'
  | 'other'

type S3Error = Error & { $metadata?: { httpStatusCode?: number } }

const troubles: Record<string, BucketTrouble> = {
  NoSuchBucket: 'missing',
  InvalidAccessKeyId: 'credentials',
  SignatureDoesNotMatch: 'credentials',
  InvalidToken: 'credentials',
  ExpiredToken: 'credentials',
  CredentialsProviderError: 'credentials',
  AccessDenied: 'denied',
  PermanentRedirect: 'address',
  AuthorizationHeaderMalformed: 'address',
  RequestTimeTooSkewed: 'clock',
  SlowDown: 'busy',
}

const sentences: Record<BucketTrouble, string> = {
  unreachable: 'the bucket does not respond',
  busy: 'the bucket rejects requests because it is overloaded or failing',
  missing: 'the bucket does not exist',
  credentials: 'the bucket rejects the credentials of the service',
  denied: 'the credentials of the service do not permit what files need: list, get, put and delete objects',
  address: 'the bucket is in another region or at another address',
  clock: 'the bucket rejects requests because the clocks differ',
  other: 'the bucket rejects a request',
}

export function troubleOf(error: unknown): BucketTrouble {
  const { name, $metadata } = error as S3Error
  const status = $metadata?.httpStatusCode
  const known = troubles[name]
  if (known !== undefined) return known
  if (status === undefined) return 'unreachable'
  if (status === 403 || status === 401) return 'denied'
  if (status === 301 || status === 307) return 'address'
  return status >= 500 || status === 429 ? 'busy' : 'other'
}

function sentenceOf(trouble: BucketTrouble): string {
  return sentences[trouble]
}

/** `where` is for the log only. */
export function toUnavailable(error: unknown, where: string): BucketUnavailable {
  if (error instanceof BucketUnavailable) return error
  const { name, message } = error as S3Error
  const sentence = sentenceOf(troubleOf(error))
  return new BucketUnavailable(`${where}: ${sentence} (${name}: ${message})`, sentence, error)
}

/** The object, or the multipart upload, does not exist. */
export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as S3Error
  if (name === 'NoSuchBucket') return false
  return ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(name) || $metadata?.httpStatusCode === 404
}
