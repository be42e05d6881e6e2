// Signs URLs at which devices fetch objects from the bucket itself (signature version 4 of AWS, in the query).

import type { SignatureV4 } from '@smithy/signature-v4'
import type { DirectUrls } from '../../domain/file/ports/direct-urls.ts'
import type { Bucket } from './bucket.ts'
import { toUnavailable } from './bucket-errors.ts'
import { type BucketSettings, describeBucket } from './bucket-settings.ts'
import { keyOfContent } from './content-key.ts'

const validSeconds = 60 * 60

type Options = { bucket: Bucket; settings: BucketSettings; now: () => number }

/** Undefined: devices fetch from this service. */
export async function openDirectUrls(options: Options): Promise<DirectUrls | undefined> {
  const { direct, region } = options.settings
  if (direct === undefined) return undefined
  const { SignatureV4 } = await import('@smithy/signature-v4')
  const { credentials, sha256 } = options.bucket.signing
  // S3 is the only service whose paths are encoded once.
  const signer = new SignatureV4({ service: 's3', uriEscapePath: false, region, credentials, sha256 })
  return new PresignedUrls(signer, options, new URL(direct))
}

class PresignedUrls implements DirectUrls {
  readonly bucket: string
  readonly prefix: string
  readonly placeholders: readonly string[] | undefined
  readonly #signer: SignatureV4
  readonly #options: Options
  readonly #endpoint: URL
  readonly #hosts: readonly string[]

  constructor(signer: SignatureV4, options: Options, endpoint: URL) {
    const { settings } = options
    this.bucket = settings.bucket
    this.prefix = settings.prefix
    this.placeholders = settings.placeholders
    this.#signer = signer
    this.#options = options
    this.#endpoint = endpoint
    this.#hosts = [endpoint.host, new URL(settings.endpoint).host]
  }

  isOfStore(host: string): boolean {
    return this.#hosts.some((own) => host === own || host === `${this.bucket}.${own}`)
  }

  async ofContent(sha256: string): Promise<string | undefined> {
    const { bucket, now } = this.#options
    // Without credentials, the URL of this service is the one that says why.
    const found = await bucket.signing.credentials().catch(() => undefined)
    const endsAt = found && (found.expiration?.getTime() ?? Number.POSITIVE_INFINITY)
    if (endsAt === undefined || endsAt < now() + validSeconds * 1000) return undefined
    return this.ofObject(this.prefix + keyOfContent(sha256))
  }

  ofObject(key: string): Promise<string> {
    return this.#sign(key).catch((error: unknown) => {
      throw toUnavailable(error, describeBucket(this.#options.settings))
    })
  }

  async #sign(key: string): Promise<string> {
    const { protocol, hostname, port, host } = this.#endpoint
    const { bucket, now } = this.#options
    const { path, query = {} } = await this.#signer.presign(
      {
        ...{ method: 'GET', protocol, hostname, ...(port !== '' && { port: Number(port) }) },
        path: `/${this.bucket}/${key.split('/').map(encodeKeyPart).join('/')}`,
        headers: { host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' },
      },
      { expiresIn: validSeconds, signingDate: new Date(now() + bucket.signing.clockOffsetMs) },
    )
    const fields = Object.entries(query).map(
      ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
    )
    return `${protocol}//${host}${path}?${fields.join('&')}`
  }
}

/** As AWS signs it: everything but letters, digits and -._~ */
function encodeKeyPart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
