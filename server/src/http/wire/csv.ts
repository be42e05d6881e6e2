// CSV according to RFC 4180: records of a stream, and the values of a record. Lines end with LF or CRLF.

import { ApiError } from '@jobcast/contract'
import { type Line, maxLineBytes, type Splitter } from './read-lines.ts'

const [lineFeed, carriageReturn, quote, comma] = [10, 13, 34, 44]
const utf8 = new TextDecoder('utf-8', { fatal: true })

type At = 'start' | 'plain' | 'quoted' | 'closed'

/** A line feed between quotes is part of a value. The number of a record is that of its first line. */
export class RecordSplitter implements Splitter {
  readonly lines: Line[] = []
  #parts: Buffer[] = []
  #bytes = 0
  #line = 1
  #begins = 1
  #at: At = 'start'

  add(chunk: Buffer): void {
    let start = 0
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]
      if (byte === quote) {
        // A quote within a plain value is ignored, so that a mistake in one line does not affect the following ones.
        if (this.#at === 'quoted') this.#at = 'closed'
        else if (this.#at !== 'plain') this.#at = 'quoted'
      } else if (byte === lineFeed) {
        this.#line++
        // A quote that is never closed extends to the maximum length of a line.
        if (this.#at === 'quoted' && this.#bytes + index - start <= maxLineBytes) continue
        this.#keep(chunk.subarray(start, index))
        this.#endRecord()
        start = index + 1
      } else if (this.#at !== 'quoted') this.#at = byte === comma ? 'start' : 'plain'
    }
    this.#keep(chunk.subarray(start))
  }

  end(): void {
    if (this.#bytes > 0) this.#endRecord()
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes <= maxLineBytes) this.#parts.push(part)
  }

  #endRecord(): void {
    const bytes = this.#bytes <= maxLineBytes ? withoutReturn(Buffer.concat(this.#parts)) : undefined
    if (bytes === undefined || bytes.length > 0) this.lines.push({ line: this.#begins, bytes })
    this.#parts = []
    this.#bytes = 0
    this.#at = 'start'
    this.#begins = this.#line
  }
}

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes
}

export type Cell = { text: string; isQuoted: boolean }

/** Throws J-500. */
export function readRecord(bytes: Buffer): Cell[] {
  const text = decode(bytes)
  const cells: Cell[] = []
  for (let at = 0; ; at++) {
    const isQuoted = text[at] === '"'
    const end = isQuoted ? endOfQuoted(text, at) : endOfPlain(text, at)
    const inner = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end)
    cells.push({ text: inner, isQuoted })
    if (end === text.length) return cells
    at = end
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw notCsv('it is not UTF-8')
  }
}

function endOfPlain(text: string, at: number): number {
  const next = text.indexOf(',', at)
  const end = next < 0 ? text.length : next
  const stray = text.indexOf('"', at)
  if (stray >= 0 && stray < end) throw notCsv('a value with a double quote must be in double quotes')
  return end
}

/** The position after the closing quote. */
function endOfQuoted(text: string, at: number): number {
  let close = text.indexOf('"', at + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) throw notCsv('the closing double quote is missing')
  if (close + 1 < text.length && text[close + 1] !== ',')
    throw notCsv('expected a comma after a closing quote')
  return close + 1
}

export function notCsv(why: string): ApiError {
  return new ApiError('J-500', { detail: `Invalid CSV: ${why}.` })
}
