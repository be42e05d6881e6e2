// Computes the hashes of content while it is received, for all kinds of storage.

import { createHash } from 'node:crypto'
import { ContentTooLarge } from '../../domain/file/ports/contents.ts'

export class ContentHashes {
  readonly #hashes = [createHash('sha256'), createHash('sha1'), createHash('md5')] as const
  #size = 0

  /** Passes the content through. Throws ContentTooLarge. */
  async *through(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.#size += chunk.length
      if (this.#size > maxBytes) throw new ContentTooLarge(`more than ${maxBytes} bytes`)
      for (const hash of this.#hashes) hash.update(chunk)
      yield chunk
    }
  }

  /** Must be called after all content has passed. */
  digest(): { size: number; sha256: string; sha1: string; md5: string } {
    const [sha256, sha1, md5] = this.#hashes.map((hash) => hash.digest('hex')) as [string, string, string]
    return { size: this.#size, sha256, sha1, md5 }
  }
}
