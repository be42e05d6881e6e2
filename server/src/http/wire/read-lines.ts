// Reads the lines of a body in batches as they arrive. Unread lines are buffered, so that a slow consumer does not make the
// sender exceed the time limit of requests; the buffer is bounded by the maximum body size.

import type { Readable } from 'node:stream'
import { ApiError } from '@jobcast/contract'
import type { HeldBody } from '../../limits/body-budget.ts'

export const maxLineBytes = 128 * 1024
const lineFeed = 10

/** `bytes` is undefined for a line that is too long. */
export type Line = { line: number; bytes: Buffer | undefined }

/** Splits incoming data into lines. */
export type Splitter = { readonly lines: Line[]; add(chunk: Buffer): void; end(): void }

export async function* readLines(
  body: Readable,
  maxBytes: number,
  batchSize: number,
  held: HeldBody | null = null,
  splitter: Splitter = new LineSplitter(),
): AsyncGenerator<Line[]> {
  for await (const chunk of withoutDelay(body, maxBytes, held)) {
    splitter.add(chunk)
    while (splitter.lines.length >= batchSize) yield splitter.lines.splice(0, batchSize)
  }
  splitter.end()
  while (splitter.lines.length > 0) yield splitter.lines.splice(0, batchSize)
}

/** Reads data as soon as it arrives. */
async function* withoutDelay(
  body: Readable,
  maxBytes: number,
  held: HeldBody | null,
): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = []
  let received = 0
  let error: unknown
  let isOver = false
  let wake = () => {}
  body.on('data', (chunk: Buffer) => {
    received += chunk.length
    try {
      if (error === undefined && received <= maxBytes) {
        held?.add(chunk.length)
        chunks.push(chunk)
      }
    } catch (refusal) {
      error = refusal
    }
    wake()
  })
  body.once('end', () => {
    isOver = true
    wake()
  })
  body.once('error', (failure) => {
    error = failure
    wake()
  })
  while (!isOver || chunks.length > 0) {
    if (error) throw error
    if (received > maxBytes) throw new ApiError('J-904')
    const chunk = chunks.shift()
    if (chunk) {
      held?.subtract(chunk.length)
      yield chunk
    } else if (!isOver) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

class LineSplitter implements Splitter {
  readonly lines: Line[] = []
  #rest: Buffer[] = []
  #restBytes = 0
  #number = 0

  add(chunk: Buffer): void {
    let start = 0
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, start)) {
      this.#keep(chunk.subarray(start, at))
      this.#endLine()
      start = at + 1
    }
    this.#keep(chunk.subarray(start))
  }

  end(): void {
    if (this.#restBytes > 0) this.#endLine()
  }

  #keep(part: Buffer): void {
    this.#restBytes += part.length
    if (this.#restBytes <= maxLineBytes) this.#rest.push(part)
  }

  /** Empty lines are skipped, but counted. */
  #endLine(): void {
    this.#number++
    const bytes = this.#restBytes <= maxLineBytes ? Buffer.concat(this.#rest) : undefined
    if (bytes === undefined || bytes.toString('latin1').trim() !== '')
      this.lines.push({ line: this.#number, bytes })
    this.#rest = []
    this.#restBytes = 0
  }
}
