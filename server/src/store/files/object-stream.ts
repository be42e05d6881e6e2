// Reads an object of a bucket as one stream, although its connection is cut: stores cut readers that take nothing for a minute, as slow
// devices make us do. The rest is then requested when the device wants it. A store that sends nothing while a device waits is cut here,
// so that it does not hold the slots of downloads.

import { Readable } from 'node:stream'
import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'

type ByteRange = { first: number; last: number }

type ObjectStreamOptions = {
  /** Undefined: no such object. */
  open: (range: ByteRange) => Promise<Readable | undefined>
  range: ByteRange
  /** How long the store may send nothing while its data is waited for. */
  silenceMs: number
}

/** Responses in a row that brought nothing. */
const maxFailures = 3
const chunkBytes = 64 * 1024

/** Undefined: no such object. */
export async function openObject(options: ObjectStreamOptions): Promise<Readable | undefined> {
  const body = await options.open(options.range)
  return body && new ObjectStream(options, body)
}

class ObjectStream extends Readable {
  readonly #options: ObjectStreamOptions
  /** Undefined: cut, and not opened again. */
  #body: Readable | undefined
  #next: number
  #isOpening = false
  #failures = 0
  #silence: NodeJS.Timeout | undefined

  constructor(options: ObjectStreamOptions, body: Readable) {
    super({ highWaterMark: chunkBytes })
    this.#options = options
    this.#next = options.range.first
    this.#attach(body)
  }

  override _read(): void {
    this.#readOn()
  }

  #readOn(): void {
    if (this.#isOpening) return
    if (this.#body === undefined) {
      this.#reopen().catch((error: Error) => this.destroy(error))
      return
    }
    this.#silence ??= setTimeout(() => this.#cut('the store sends nothing'), this.#options.silenceMs)
    this.#body.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#detach()
    done(error)
  }

  async #reopen(): Promise<void> {
    const range = { first: this.#next, last: this.#options.range.last }
    this.#isOpening = true
    const body = await this.#options.open(range)
    this.#isOpening = false
    if (body === undefined)
      throw new StorageUnavailable('an object of the bucket was removed while it was read')
    if (this.destroyed) {
      discard(body)
      return
    }
    this.#attach(body)
    this.#readOn()
  }

  #attach(body: Readable): void {
    this.#body = body
    const cut = (error?: Error) => {
      if (this.#body === body) this.#cut(error ?? 'the store has cut the connection')
    }
    body.on('data', (chunk: Buffer) => {
      if (this.#body === body) this.#take(chunk)
    })
    body.on('error', cut)
    body.once('end', () => cut())
    body.once('close', () => cut())
    body.pause()
  }

  #take(chunk: Buffer): void {
    const left = this.#options.range.last + 1 - this.#next
    const taken = chunk.subarray(0, left)
    this.#next += taken.length
    this.#failures = 0
    const isWanted = this.push(taken)
    if (taken.length === left) {
      this.#release()
      this.push(null)
    } else if (isWanted) this.#silence?.refresh()
    else this.#pause()
  }

  /** From now on it is the device that takes its time. */
  #pause(): void {
    clearTimeout(this.#silence)
    this.#silence = undefined
    this.#body?.pause()
  }

  #cut(error: Error | string): void {
    const isAwaited = this.#silence !== undefined
    this.#detach()
    if (++this.#failures >= maxFailures) this.destroy(new StorageUnavailable(error))
    else if (isAwaited) this.#readOn()
  }

  /** The end of a response that is read completely, so that its connection can be used again. */
  #release(): void {
    const body = this.#body
    this.#pause()
    this.#body = undefined
    body?.resume()
  }

  #detach(): void {
    const body = this.#body
    this.#pause()
    this.#body = undefined
    if (body) discard(body)
  }
}

/** A response that is destroyed fails, which nobody waits for. */
function discard(body: Readable): void {
  body.on('error', () => undefined)
  body.destroy()
}
