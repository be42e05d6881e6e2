// Content of files in a bucket, by its sha256, under the same names as in a folder. It is uploaded in parts, which become an object
// when the hash is verified.

import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'
import type { FileContents, ReceivedContent } from '../../domain/file/ports/contents.ts'
import type { DirectUrls } from '../../domain/file/ports/direct-urls.ts'
import { uploadKeptMs } from '../../domain/file/ports/uploads.ts'
import type { Bucket, StoredObject } from './bucket.ts'
import { BucketUploads } from './bucket-uploads.ts'
import { ContentHashes } from './content-hashes.ts'
import { keyOfContent } from './content-key.ts'
import { openObject } from './object-stream.ts'
import { partBytesFor } from './part-buffer.ts'
import { PartWriter } from './part-writer.ts'
import { RemovalGuard } from './removal-guard.ts'
import { unneeded, unusedAfterMs } from './unneeded-contents.ts'

const incoming = 'incoming/'
const mark = 'installation'
/** The size of a copy request. */
const copiedBytes = 128 * 1024 * 1024
/** How long the check that the bucket belongs to this installation is cached. */
const oursForMs = 60_000
/** Devices wait for 60 s. */
const silenceMs = 50_000

type BucketContentsOptions = {
  bucket: Bucket
  /** A description for people. */
  where: string
  /** Other processes also write to the bucket. */
  isShared: boolean
  now: () => number
  elapsed: () => number
  /** Equal for all nodes on one database; undefined: not known yet. */
  installationId: () => Promise<string | undefined>
  /** Called if the bucket belongs to another installation: then nothing is written to it or removed from it. */
  onForeign?: (where: string) => void
  /** Undefined: devices fetch from this service. */
  direct?: DirectUrls | undefined
  /** The minimum size of a part; for tests. */
  leastPartBytes?: number
}

export class BucketContents implements FileContents {
  readonly isOpen = true
  readonly uploads: BucketUploads
  readonly direct: DirectUrls | undefined
  readonly #options: BucketContentsOptions
  readonly #bucket: Bucket
  readonly #guard: RemovalGuard
  /** Uploads of this process. */
  readonly #writers = new Map<string, PartWriter>()
  readonly #openedAt: number
  #isForeign = false
  #oursUntil = Number.NEGATIVE_INFINITY

  constructor(options: BucketContentsOptions) {
    const { bucket, isShared, now, elapsed, leastPartBytes } = options
    this.#options = options
    this.#bucket = bucket
    this.#guard = new RemovalGuard({ bucket, isShared, elapsed })
    this.#openedAt = now()
    this.direct = options.direct
    this.uploads = new BucketUploads({ bucket, leastPartBytes, requireOurs: () => this.#requireOurs() })
  }

  async receive(
    body: AsyncIterable<Buffer>,
    maxBytes: number,
    announced?: number,
    expected?: string,
  ): Promise<ReceivedContent> {
    await this.#requireOurs()
    const part = randomUUID()
    const most = announced ?? maxBytes
    const partBytes = Math.min(partBytesFor(most, this.#options.leastPartBytes), Math.max(1, most))
    const key = expected === undefined ? incoming + part : keyOfContent(expected)
    const writer = new PartWriter(this.#bucket, key, partBytes)
    this.#writers.set(part, writer)
    const hashes = new ContentHashes()
    try {
      for await (const chunk of hashes.through(body, maxBytes)) await writer.write(chunk)
    } catch (error) {
      await this.discard({ part })
      throw error
    }
    return { ...hashes.digest(), part }
  }

  async discard({ part }: Pick<ReceivedContent, 'part'>): Promise<void> {
    // If this fails, the cleanup removes it later.
    await this.#writers
      .get(part)
      ?.abort()
      .catch(() => undefined)
    this.#writers.delete(part)
  }

  async keep<T>(received: ReceivedContent, record: () => Promise<T>): Promise<T> {
    const storeAndRecord = async () => {
      await this.#store(received)
      this.#writers.delete(received.part)
      return record()
    }
    return this.#guard.whileKept(received.sha256, storeAndRecord).catch(async (error: unknown) => {
      await this.discard(received)
      throw error
    })
  }

  open(sha256: string, range: { first: number; last: number }): Promise<Readable | undefined> {
    const key = keyOfContent(sha256)
    return openObject({ range, silenceMs, open: (part) => this.#bucket.get(key, part) })
  }

  async removeUnused(listNeeded: (sha256s: string[]) => Promise<string[]>): Promise<void> {
    if (!(await this.#isOurs())) return
    await this.#abortLeft()
    for await (const hash of unneeded(this.#listOld(), listNeeded)) {
      const isUnneeded = async () => (await this.#isOld(hash)) && (await listNeeded([hash])).length === 0
      await this.#guard.remove(hash, isUnneeded, () => this.#bucket.remove(keyOfContent(hash)))
    }
  }

  async checkHealth(): Promise<void> {
    await this.#bucket.check()
  }

  async #store({ part, sha256, size }: ReceivedContent): Promise<void> {
    const writer = this.#writers.get(part)
    if (writer === undefined) throw new Error('content is kept that was not received')
    const key = keyOfContent(sha256)
    const isAsExpected = writer.key === key || writer.key.startsWith(incoming)
    if (!isAsExpected) throw new Error('content is kept under another hash than was expected')
    if ((await writer.complete(key)) === 'complete') return
    // The hash was not known before the upload.
    const multipart = await this.#bucket.beginMultipart(key)
    try {
      const tags: string[] = []
      for (let first = 0; first < size; first += copiedBytes) {
        const last = Math.min(first + copiedBytes, size) - 1
        tags.push(await this.#bucket.copyPart(multipart, tags.length + 1, { key: writer.key, first, last }))
      }
      await this.#bucket.complete(multipart, tags)
    } catch (error) {
      await this.#bucket.abort(multipart).catch(() => undefined)
      throw error
    } finally {
      await this.#bucket.remove(writer.key).catch(() => undefined)
    }
  }

  /** Hashes of content that may be removed. Also removes other old objects. */
  async *#listOld(): AsyncGenerator<string> {
    // Leaves time to notice that the service was started with the wrong database.
    const isEarly = this.#options.now() < this.#openedAt + unusedAfterMs
    const uploads = this.uploads.collectOld(this.#options.now() - uploadKeptMs)
    for await (const object of this.#bucket.list('')) {
      const hash = /^[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(object.key)?.[1]
      if (hash !== undefined) {
        if (!isEarly && this.#ageOf(object) > unusedAfterMs) yield hash
      } else if (!uploads.add(object) && this.#isLeft(object)) await this.#bucket.remove(object.key)
    }
    await uploads.remove()
  }

  #isLeft(object: StoredObject): boolean {
    const { key } = object
    if (this.#guard.isLeftMark(key, this.#ageOf(object))) return true
    if (!key.startsWith(incoming) || this.#writers.has(key.slice(incoming.length))) return false
    return !this.#options.isShared || this.#ageOf(object) > unusedAfterMs
  }

  /** Aborts multipart uploads that will never be completed. */
  async #abortLeft(): Promise<void> {
    const ours = new Set(this.#writers.values().map(({ uploadId }) => uploadId))
    for await (const multipart of this.#bucket.listMultiparts()) {
      if (ours.has(multipart.uploadId)) continue
      if (this.#options.isShared) {
        const before = this.#options.now() - uploadKeptMs
        if (multipart.at > before || (await this.#bucket.lastPartAt(multipart)) > before) continue
      }
      await this.#bucket.abort(multipart)
    }
  }

  async #requireOurs(): Promise<void> {
    if (await this.#isOurs()) return
    throw new StorageUnavailable(`the bucket ${this.#options.where} belongs to another installation`)
  }

  /** The same check as in claim-folder.ts. */
  async #isOurs(): Promise<boolean> {
    const { elapsed, installationId, onForeign, where } = this.#options
    if (elapsed() < this.#oursUntil) return true
    const id = await installationId()
    if (id === undefined) return false
    if ((await this.#readMark()) === undefined) await this.#bucket.put(mark, Buffer.from(`${id}\n`))
    const isOurs = (await this.#readMark()) === id
    if (!isOurs && !this.#isForeign) onForeign?.(where)
    this.#isForeign = !isOurs
    if (isOurs) this.#oursUntil = elapsed() + oursForMs
    return isOurs
  }

  async #readMark(): Promise<string | undefined> {
    return (await this.#bucket.read(mark))?.toString().trim()
  }

  async #isOld(sha256: string): Promise<boolean> {
    const found = await this.#bucket.find(keyOfContent(sha256))
    return found !== undefined && this.#ageOf(found) > unusedAfterMs
  }

  #ageOf({ at }: StoredObject): number {
    return this.#options.now() - at
  }
}
