// What a handler prints, kept on disk until the server has it: a lost connection, or a killed agent, loses none of it.

import { type FileHandle, open } from 'node:fs/promises'
import { News } from './news.ts'

export class OutputSpool {
  /** Told when there is more to send, or when there will be no more. */
  readonly news = new News()
  /** What was there when it was opened: of an earlier start of the same attempt. */
  readonly lengthAtOpen: number
  readonly #file: FileHandle
  readonly #maxBytes: number
  readonly #onFailure: (error: unknown) => void
  #length: number
  #tail: Promise<void> = Promise.resolve()
  #hasEnded = false
  readonly #end = Promise.withResolvers<void>()
  #isCut = false

  private constructor(
    file: FileHandle,
    length: number,
    maxBytes: number,
    onFailure: (error: unknown) => void,
  ) {
    this.#file = file
    this.lengthAtOpen = length
    this.#length = length
    this.#maxBytes = maxBytes
    this.#onFailure = onFailure
  }

  /** One byte more is kept than the server does: by it the server notices that there was more. */
  static async open(
    path: string,
    maxBytes: number,
    onFailure: (error: unknown) => void,
  ): Promise<OutputSpool> {
    const file = await open(path, 'a+', 0o600)
    return new OutputSpool(file, (await file.stat()).size, maxBytes + 1, onFailure)
  }

  get length(): number {
    return this.#length
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Resolves when there will be no more. */
  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** There was more than is kept, or than the disk took. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Resolves when it is written: whoever waits for that reads no faster than the disk takes it. */
  append(chunk: Buffer): Promise<void> {
    this.#tail = this.#tail.then(() => this.#write(chunk))
    return this.#tail
  }

  /** There will be no more. */
  async end(): Promise<void> {
    await this.#tail
    this.#hasEnded = true
    this.#end.resolve()
    this.news.tell()
  }

  /** Up to `size` bytes from `offset` on. */
  async read(offset: number, size: number): Promise<Buffer> {
    const wanted = Math.min(size, this.#length - offset)
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(wanted), 0, wanted, offset)
    return buffer.subarray(0, bytesRead)
  }

  /** It outlives a power cut as well. */
  async sync(): Promise<void> {
    await this.#tail
    await this.#file.datasync()
  }

  async close(): Promise<void> {
    await this.#tail
    await this.#file.close()
  }

  async #write(chunk: Buffer): Promise<void> {
    const kept = chunk.subarray(0, this.#isCut ? 0 : this.#maxBytes - this.#length)
    if (kept.length < chunk.length) this.#isCut = true
    let written = 0
    try {
      while (written < kept.length) written += (await this.#file.write(kept, written)).bytesWritten
    } catch (error) {
      // The handler is not to blame for a full disk: it goes on, without being recorded.
      this.#isCut = true
      this.#onFailure(error)
    }
    this.#length += written
    if (written > 0) this.news.tell()
  }
}
