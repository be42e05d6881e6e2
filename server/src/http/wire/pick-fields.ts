// Reads two fields of a large JSON object: a string and a list of strings. Everything else is checked, but never becomes a
// value, and the event loop is released in between. JSON.parse took 21 seconds and 2.85 GB of memory for a body of 256 MB with
// other content.

import { isUtf8 } from 'node:buffer'
import { maxJsonDepth } from '../../domain/common/json-depth.ts'

export type WantedFields = {
  text: string
  list: string
  /** A longer list is returned with one more item than this, which is enough to refuse it. */
  maxItems: number
  /** Maximum number of bytes besides the list… */
  otherBytes: number
  /** …and additional bytes per item of the list. */
  bytesPerItem: number
}

/** The bytes are not JSON; the message describes the error. */
export class NotJson extends Error {}
export class NestedTooDeep extends Error {}
export class TooLarge extends Error {}

/** Bytes per slice, which takes a millisecond or two. */
const sliceBytes = 64 * 1024
/** Tokens up to this length are read without checking for the end of the slice. */
const shortToken = 4096
/** Returned for longer strings; longer than any valid name. */
const longText = 'x'.repeat(1000)

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const [minus, plus, dot, zero, nine] = [0x2d, 0x2b, 0x2e, 0x30, 0x39]

/** The tokens that may follow. */
type Expected = 'value' | 'first-item' | 'first-key' | 'key' | 'colon' | 'end'
/** `constructor`: an object under that key, which must not contain `prototype`. No object may contain `__proto__`. */
type Container = 'object' | 'array' | 'constructor'

/** Placeholders for values of a wrong type, of which only the type matters. */
const placeholders = { object: {}, array: [], number: 0, boolean: true, null: null } as const

/** `release` yields to the event loop. Returns the same values as JSON.parse for the two fields. */
export async function pickFields(
  bytes: Buffer,
  wanted: WantedFields,
  release: () => Promise<void>,
): Promise<unknown> {
  const reader = new FieldReader(bytes, wanted)
  const reading = reader.read()
  let checked = 0
  for (;;) {
    const { done } = reading.next()
    const upTo = startOfCharacter(bytes, reader.at)
    if (!isUtf8(bytes.subarray(checked, upTo))) throw new NotJson('it is not valid UTF-8')
    checked = upTo
    if (done) return reader.picked
    await release()
  }
}

function startOfCharacter(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}

class FieldReader {
  readonly #bytes: Buffer
  readonly #wanted: WantedFields
  readonly #containers: Container[] = []
  #fields: Record<string, unknown> = {}
  /** The current field of the outermost object. */
  #field = ''
  #key = ''
  #root: unknown
  #expected: Expected = 'value'
  #stopAt = sliceBytes
  /** The list is too long or has an item that is not a string, so reading stops. */
  #isRefused = false
  at = 0

  constructor(bytes: Buffer, wanted: WantedFields) {
    this.#bytes = bytes
    this.#wanted = wanted
    // One byte order mark is ignored.
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.at = 3
  }

  get picked(): unknown {
    return this.#root === placeholders.object ? this.#fields : this.#root
  }

  /** Yields after every slice. */
  *read(): Generator<void> {
    while (!this.#isRefused) {
      if (isSpace(this.#bytes[this.at])) yield* this.#skipSpace()
      if (this.at >= this.#stopAt) yield this.#nextSlice()
      const byte = this.#bytes[this.at]
      if (byte === undefined) {
        if (this.#expected === 'end' && this.#containers.length === 0) return
        throw new NotJson('it ends too early')
      }
      if (byte === quote) {
        const start = this.#beginText()
        while (!this.#readCharacters()) yield this.#nextSlice()
        this.#endText(start)
      } else if (this.#expected === 'colon') this.#take(byte === colon, 'value')
      else if (this.#expected === 'end') this.#readEnd(byte)
      else if (byte === closeBrace && this.#expected === 'first-key') this.#close()
      else if (byte === closeBracket && this.#expected === 'first-item') this.#close()
      else if (this.#expected !== 'value' && this.#expected !== 'first-item') throw this.#unexpected()
      else if (byte === openBrace || byte === openBracket) this.#open(byte === openBrace)
      else if (byte !== minus && !isDigit(byte)) this.#readWord()
      else if (!this.#readShortInteger()) yield* this.#readNumber()
    }
  }

  #nextSlice(): void {
    const { list, otherBytes, bytesPerItem } = this.#wanted
    const items = this.#fields[list]
    const count = Array.isArray(items) ? items.length : 0
    if (this.at > otherBytes + (count + 1) * bytesPerItem) throw new TooLarge()
    this.#stopAt = this.at + sliceBytes
  }

  *#skipSpace(): Generator<void> {
    while (isSpace(this.#bytes[this.at])) if (++this.at >= this.#stopAt) yield this.#nextSlice()
  }

  #take(isRight: boolean, next: Expected): void {
    if (!isRight) throw this.#unexpected()
    this.at++
    this.#expected = next
  }

  /** After a value. */
  #readEnd(byte: number): void {
    const container = this.#containers.at(-1)
    if (container === undefined) throw this.#unexpected()
    if (byte === (container === 'array' ? closeBracket : closeBrace)) this.#close()
    else this.#take(byte === comma, container === 'array' ? 'value' : 'key')
  }

  #close(): void {
    this.#containers.pop()
    this.at++
    this.#expected = 'end'
  }

  #open(isObject: boolean): void {
    if (this.#containers.length === maxJsonDepth) throw new NestedTooDeep()
    this.#give(isObject ? placeholders.object : placeholders.array)
    const isConstructor = this.#isKeyed && this.#key === 'constructor'
    this.#containers.push(isObject ? (isConstructor ? 'constructor' : 'object') : 'array')
    this.at++
    this.#expected = isObject ? 'first-key' : 'first-item'
  }

  get #isKeyed(): boolean {
    return this.#containers.length > 0 && this.#containers.at(-1) !== 'array'
  }

  #beginText(): number {
    if (this.#expected === 'colon' || this.#expected === 'end') throw this.#unexpected()
    return this.at++
  }

  #endText(start: number): void {
    const isKey = this.#expected === 'key' || this.#expected === 'first-key'
    if (isKey) this.#setKey(start)
    else if (this.#isWanted) this.#give(this.#textFrom(start))
    this.#expected = isKey ? 'colon' : 'end'
  }

  /** Reads up to one slice; true at the end of the string. */
  #readCharacters(): boolean {
    const bytes = this.#bytes
    const stop = Math.max(this.#stopAt, this.at + shortToken)
    let at = this.at
    while (at < stop) {
      const byte = bytes[at]
      if (byte === quote) {
        this.at = at + 1
        return true
      }
      if (byte === backslash) at += this.#escapeLength(at)
      else if (byte === undefined || byte < 0x20) throw this.#unexpected(at)
      else at++
    }
    this.at = at
    return false
  }

  #escapeLength(at: number): number {
    const byte = this.#bytes[at + 1]
    if (byte === 0x75) {
      for (let digit = at + 2; digit < at + 6; digit++) {
        if (!isHexDigit(this.#bytes[digit])) throw this.#unexpected(digit)
      }
      return 6
    }
    if (byte === undefined || !escapes.has(byte)) throw this.#unexpected(at + 1)
    return 2
  }

  #setKey(start: number): void {
    // Longer keys cannot be one of the relevant ones, even with escapes.
    this.#key = this.at - start > 100 ? '' : this.#textFrom(start)
    const isOfConstructor = this.#containers.at(-1) === 'constructor'
    if (this.#key === '__proto__' || (isOfConstructor && this.#key === 'prototype')) {
      throw new NotJson('Object contains forbidden prototype property')
    }
    if (this.#containers.length === 1) this.#field = this.#key
  }

  #textFrom(start: number): string {
    if (this.at - start > shortToken) return longText
    const text = this.#bytes.toString('utf8', start + 1, this.at - 1)
    return text.includes('\\') ? JSON.parse(`"${text}"`) : text
  }

  *#readNumber(): Generator<void> {
    const bytes = this.#bytes
    if (bytes[this.at] === minus) this.at++
    if (bytes[this.at] === zero) this.at++
    else while (!this.#readDigits()) yield this.#nextSlice()
    if (bytes[this.at] === dot) {
      this.at++
      while (!this.#readDigits()) yield this.#nextSlice()
    }
    if (((bytes[this.at] ?? 0) | 0x20) === 0x65) {
      this.at++
      if (bytes[this.at] === plus || bytes[this.at] === minus) this.at++
      while (!this.#readDigits()) yield this.#nextSlice()
    }
    this.#endValue(placeholders.number)
  }

  /** Reads up to one slice; true at the end of the digits. */
  #readDigits(): boolean {
    const bytes = this.#bytes
    const stop = Math.max(this.#stopAt, this.at + shortToken)
    let at = this.at
    while (at < stop && isDigit(bytes[at])) at++
    if (at === this.at) throw this.#unexpected()
    this.at = at
    return at < stop || !isDigit(bytes[at])
  }

  /** Fast path for numbers of a few digits; false for all others. */
  #readShortInteger(): boolean {
    const bytes = this.#bytes
    let at = this.at
    if (bytes[at] === zero) return false
    while (at < this.at + shortToken && isDigit(bytes[at])) at++
    const next = bytes[at]
    if (at === this.at || (next !== comma && next !== closeBracket && next !== closeBrace)) return false
    this.at = at
    this.#endValue(placeholders.number)
    return true
  }

  #readWord(): void {
    for (const [word, value] of words) {
      if (!word.every((byte, index) => this.#bytes[this.at + index] === byte)) continue
      this.at += word.length
      this.#endValue(value)
      return
    }
    throw this.#unexpected()
  }

  #endValue(value: unknown): void {
    this.#give(value)
    this.#expected = 'end'
  }

  get #isWanted(): boolean {
    const depth = this.#containers.length
    if (depth === 0) return true
    const { text, list } = this.#wanted
    return this.#field === list ? depth <= 2 : depth === 1 && this.#field === text
  }

  /** The last value of a repeated name applies. */
  #give(value: unknown): void {
    if (!this.#isWanted) return
    const { list, maxItems } = this.#wanted
    const depth = this.#containers.length
    if (depth === 0) this.#root = value
    else if (depth === 1) this.#fields[this.#field] = value === placeholders.array ? [] : value
    else {
      const items = this.#fields[list]
      if (!Array.isArray(items)) return
      items.push(value)
      this.#isRefused = items.length > maxItems || typeof value !== 'string'
    }
  }

  #unexpected(at = this.at): NotJson {
    return new NotJson(
      at >= this.#bytes.length ? 'it ends too early' : `unexpected character at position ${at}`,
    )
  }
}

const words = [
  [[...Buffer.from('true')], placeholders.boolean],
  [[...Buffer.from('false')], placeholders.boolean],
  [[...Buffer.from('null')], placeholders.null],
] as const

const escapes = new Set(Buffer.from('"\\/bfnrt'))

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isHexDigit(byte: number | undefined): boolean {
  const letter = (byte ?? 0) | 0x20
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine
}
