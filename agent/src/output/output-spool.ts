// A handler's output, kept on disk until the server has it, so that neither a lost connection nor a crash loses any.
//
// Read next: send-output.ts, how it is sent; encode-output.ts, its encoding; progress-lines.ts, progress lines in it;
// printable.ts, untrusted text in a log.

import { type FileHandle, open } from 'node:fs/promises'
import { WakeUp } from '../execution/wake-up.ts'

export class OutputSpool {
  /** Wakes the sender when there is more output, or when it has ended. */
  readonly wakeUp = new WakeUp()
  /** Bytes of output from an earlier start of the same attempt. */
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

  /** Keeps one byte more than the server does, so that the server notices that there was more. */
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

  /** Resolves when the output has ended. */
  get ended(): Promise<void> {
    return this.#end.promise
  }

  /** Output was dropped: beyond the limit, or because the disk was full. */
  get isCut(): boolean {
    return this.#isCut
  }

  /** Resolves when it is written, which provides backpressure. */
  append(chunk: Buffer): Promise<void> {
    this.#tail = this.#tail.then(() => this.#write(chunk))
    return this.#tail
  }

  /** No more output follows. */
  async end(): Promise<void> {
    await this.#tail
    this.#hasEnded = true
    this.#end.resolve()
    this.wakeUp.wake()
  }

  /** Up to `size` bytes, starting at `offset`. */
  async read(offset: number, size: number): Promise<Buffer> {
    const wanted = Math.min(size, this.#length - offset)
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(wanted), 0, wanted, offset)
    return buffer.subarray(0, bytesRead)
  }

  /** Makes it survive a power cut. */
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
      // A full disk must not stop the handler: it continues, and its output is dropped.
      this.#isCut = true
      this.#onFailure(error)
    }
    this.#length += written
    if (written > 0) this.wakeUp.wake()
  }
}
