// Requests to an S3-compatible bucket, each with a time limit. The SDK is loaded only if there is a bucket.

import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import type * as Sdk from '@aws-sdk/client-s3'
import { isMissing, toUnavailable } from './bucket-errors.ts'
import { type BucketSettings, describeBucket } from './bucket-settings.ts'

type Sent = { abortSignal: AbortSignal }

export type StoredObject = { key: string; size: number; at: number }
/** Parts that become an object when it is completed. */
export type Multipart = { key: string; uploadId: string }

/** Time limit until the response begins. */
const answerMs = 15_000
/** The same for content: a store that has many downloads or uploads at once responds to the last of them late. Devices wait for 60 s. */
const contentMs = 50_000
/** Requests with content get more time: this rate is enough. */
const leastBytesPerMs = 100
/** Time limit of requests whose work grows with an object. */
const workMs = 120_000
const connectMs = 5000
/** Downloads, uploads and clean-up together; the SDK would wait at 50. */
const maxSockets = 512

export async function openBucket(settings: BucketSettings): Promise<Bucket> {
  return new Bucket(await import('@aws-sdk/client-s3'), settings)
}

/** Keys are without the prefix. Every method rejects with BucketUnavailable. */
export class Bucket {
  readonly #sdk: typeof Sdk
  readonly #client: Sdk.S3Client
  readonly #settings: BucketSettings

  constructor(sdk: typeof Sdk, settings: BucketSettings) {
    const { endpoint, region, credentials } = settings
    this.#sdk = sdk
    this.#settings = settings
    this.#client = new sdk.S3Client({
      ...{ endpoint, region, ...(credentials && { credentials }) },
      forcePathStyle: true,
      followRegionRedirects: false,
      // Only AWS supports the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: connectMs,
        httpAgent: new Agent({ keepAlive: true, maxSockets }),
        httpsAgent: new TlsAgent({ keepAlive: true, maxSockets }),
      },
    })
  }

  close(): void {
    this.#client.destroy()
  }

  /** For signatures without a request. `clockOffsetMs`: how much the clock of the store differs, as responses have shown. */
  get signing() {
    const { credentials, sha256, systemClockOffset } = this.#client.config
    return { credentials, sha256, clockOffsetMs: systemClockOffset }
  }

  /** Checks that the bucket responds, and that the service may list it. */
  async check(): Promise<void> {
    const { bucket: Bucket, prefix: Prefix } = this.#settings
    const command = new this.#sdk.ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 })
    await this.#send((sent) => this.#client.send(command, sent))
  }

  /** A range of bytes, both ends included. Undefined: no such object. */
  async get(key: string, range?: { first: number; last: number }): Promise<Readable | undefined> {
    const Range = range && `bytes=${range.first}-${range.last}`
    const input = { ...this.#at(key), ...(Range && { Range }) }
    const command = new this.#sdk.GetObjectCommand(input)
    const found = await this.#find((sent) => this.#client.send(command, sent), contentMs)
    return found?.Body as Readable | undefined
  }

  /** Reads a small object completely. */
  async read(key: string): Promise<Buffer | undefined> {
    const command = new this.#sdk.GetObjectCommand(this.#at(key))
    const read = async (sent: Sent) => {
      const { Body } = await this.#client.send(command, sent)
      return Body && Buffer.from(await Body.transformToByteArray())
    }
    return this.#find(read, workMs)
  }

  async find(key: string): Promise<StoredObject | undefined> {
    const command = new this.#sdk.HeadObjectCommand(this.#at(key))
    const found = await this.#find((sent) => this.#client.send(command, sent))
    return found && { key, size: found.ContentLength ?? 0, at: found.LastModified?.getTime() ?? 0 }
  }

  async put(key: string, body: Buffer): Promise<void> {
    const command = new this.#sdk.PutObjectCommand({ ...this.#at(key), Body: body })
    await this.#send((sent) => this.#client.send(command, sent), msFor(body))
  }

  /** Idempotent. */
  async remove(key: string): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand(this.#at(key))
    await this.#find((sent) => this.#client.send(command, sent))
  }

  async *list(under: string): AsyncGenerator<StoredObject> {
    for await (const { Contents = [] } of this.#pages(under)) {
      for (const { Key = '', Size = 0, LastModified } of Contents)
        yield { key: this.#keyOf(Key), size: Size, at: LastModified?.getTime() ?? 0 }
    }
  }

  /** The names between `under` and the next slash. */
  async *listFolders(under: string): AsyncGenerator<string> {
    for await (const { CommonPrefixes = [] } of this.#pages(under, '/'))
      for (const { Prefix = '' } of CommonPrefixes) yield this.#keyOf(Prefix).slice(under.length, -1)
  }

  async beginMultipart(key: string): Promise<Multipart> {
    const command = new this.#sdk.CreateMultipartUploadCommand(this.#at(key))
    const { UploadId = '' } = await this.#send((sent) => this.#client.send(command, sent), contentMs)
    return { key, uploadId: UploadId }
  }

  /** Returns the entity tag of the part, which is needed to complete the upload. */
  async putPart(multipart: Multipart, partNo: number, body: Buffer): Promise<string> {
    const input = { ...this.#of(multipart), PartNumber: partNo, Body: body }
    const command = new this.#sdk.UploadPartCommand(input)
    const { ETag = '' } = await this.#send((sent) => this.#client.send(command, sent), msFor(body))
    return ETag
  }

  /** The same, with content from the bucket. */
  async copyPart(
    multipart: Multipart,
    partNo: number,
    from: { key: string; first: number; last: number },
  ): Promise<string> {
    const { bucket, prefix } = this.#settings
    const source = {
      CopySource: `${bucket}/${prefix}${from.key}`,
      CopySourceRange: `bytes=${from.first}-${from.last}`,
    }
    const input = { ...this.#of(multipart), PartNumber: partNo, ...source }
    const command = new this.#sdk.UploadPartCopyCommand(input)
    const { CopyPartResult } = await this.#send((sent) => this.#client.send(command, sent), workMs)
    return CopyPartResult?.ETag ?? ''
  }

  async complete(multipart: Multipart, tags: readonly string[]): Promise<void> {
    const Parts = tags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
    const input = { ...this.#of(multipart), MultipartUpload: { Parts } }
    const command = new this.#sdk.CompleteMultipartUploadCommand(input)
    await this.#send((sent) => this.#client.send(command, sent), workMs)
  }

  async abort(multipart: Multipart): Promise<void> {
    const command = new this.#sdk.AbortMultipartUploadCommand(this.#of(multipart))
    await this.#find((sent) => this.#client.send(command, sent))
  }

  /** Lists uncompleted multipart uploads. */
  async *listMultiparts(): AsyncGenerator<Multipart & { at: number }> {
    const { bucket, prefix } = this.#settings
    let isMore = true
    for (let after: Sdk.ListMultipartUploadsCommandOutput | undefined; isMore; ) {
      const input = { Bucket: bucket, Prefix: prefix, ...markersOf(after) }
      const command = new this.#sdk.ListMultipartUploadsCommand(input)
      const page = await this.#send((sent) => this.#client.send(command, sent))
      for (const { Key = '', UploadId = '', Initiated } of page.Uploads ?? [])
        yield { key: this.#keyOf(Key), uploadId: UploadId, at: Initiated?.getTime() ?? 0 }
      after = page
      isMore = page.IsTruncated ?? false
    }
  }

  /** The time of the last of its first thousand parts; 0: no parts, or no such upload. */
  async lastPartAt(multipart: Multipart): Promise<number> {
    const command = new this.#sdk.ListPartsCommand(this.#of(multipart))
    const found = await this.#find((sent) => this.#client.send(command, sent))
    return Math.max(0, ...(found?.Parts ?? []).map(({ LastModified }) => LastModified?.getTime() ?? 0))
  }

  async *#pages(under: string, delimiter?: string) {
    const { bucket, prefix } = this.#settings
    const all = { Bucket: bucket, Prefix: prefix + under, ...(delimiter && { Delimiter: delimiter }) }
    let token: string | undefined
    do {
      const input = { ...all, ...(token && { ContinuationToken: token }) }
      const command = new this.#sdk.ListObjectsV2Command(input)
      const page = await this.#send((sent) => this.#client.send(command, sent))
      yield page
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  /** Undefined: no such object. */
  #find<T>(request: (sent: Sent) => Promise<T>, waitMs = answerMs): Promise<T | undefined> {
    const orMissing = (error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    }
    return this.#send((sent) => request(sent).catch(orMissing), waitMs)
  }

  async #send<T>(request: (sent: Sent) => Promise<T>, waitMs = answerMs): Promise<T> {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(), waitMs)
    try {
      return await request({ abortSignal: ending.signal })
    } catch (error) {
      throw toUnavailable(error, describeBucket(this.#settings))
    } finally {
      clearTimeout(timer)
    }
  }

  #at(key: string) {
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + key }
  }

  #of({ key, uploadId }: Multipart) {
    return { ...this.#at(key), UploadId: uploadId }
  }

  #keyOf(key: string): string {
    return key.slice(this.#settings.prefix.length)
  }
}

function msFor({ length }: Buffer): number {
  return contentMs + length / leastBytesPerMs
}

/** Where the next page begins. */
function markersOf(page: Sdk.ListMultipartUploadsCommandOutput | undefined) {
  const { NextKeyMarker, NextUploadIdMarker } = page ?? {}
  return {
    ...(NextKeyMarker && { KeyMarker: NextKeyMarker }),
    ...(NextUploadIdMarker && { UploadIdMarker: NextUploadIdMarker }),
  }
}
