// Uploads content to an object of a bucket in parts, one of which is in memory. The object exists only after completion.

import type { Bucket, Multipart } from './bucket.ts'
import { PartBuffer } from './part-buffer.ts'

export class PartWriter {
  readonly key: string
  readonly #bucket: Bucket
  readonly #buffer: PartBuffer
  readonly #tags: string[] = []
  #multipart: Multipart | undefined

  constructor(bucket: Bucket, key: string, partBytes: number) {
    this.#bucket = bucket
    this.key = key
    this.#buffer = new PartBuffer(partBytes)
  }

  /** Undefined: all content is still in memory. */
  get uploadId(): string | undefined {
    return this.#multipart?.uploadId
  }

  async write(chunk: Buffer): Promise<void> {
    for (let done = 0; done < chunk.length; ) {
      if (this.#buffer.isFull) await this.#putPart()
      done += this.#buffer.add(chunk.subarray(done))
    }
  }

  /** Content of a single part is written to `key`, regardless of the original key. */
  async complete(key: string): Promise<'complete' | 'elsewhere'> {
    if (this.#multipart === undefined) {
      await this.#bucket.put(key, this.#buffer.bytes)
      return 'complete'
    }
    if (this.#buffer.length > 0) await this.#putPart()
    await this.#bucket.complete(this.#multipart, this.#tags)
    return key === this.key ? 'complete' : 'elsewhere'
  }

  async abort(): Promise<void> {
    if (this.#multipart) await this.#bucket.abort(this.#multipart)
  }

  async #putPart(): Promise<void> {
    this.#multipart ??= await this.#bucket.beginMultipart(this.key)
    this.#tags.push(await this.#bucket.putPart(this.#multipart, this.#tags.length + 1, this.#buffer.bytes))
    this.#buffer.clear()
  }
}
