// Replaces the values of secrets in texts and in output that comes in pieces. All values are searched at once
// (Aho-Corasick), byte by byte: time is linear in the text, memory in the sum of the values. Overlapping occurrences are
// replaced together.
//
// The end of a piece may be the beginning of a value. It is held back until the next piece, or the end of the output, decides.

import { maskedSecret } from '@jobcast/contract/parameters'

/** Shorter values are not masked: they would match everywhere. */
const minCharacters = 6
const maskBytes = Buffer.from(maskedSecret)
const root = 0

/** `tail`: the held-back bytes. The first `covered` of them belong to a value that is masked already. */
export type Held = { tail: Uint8Array; covered: number }
export const nothingHeld: Held = { tail: new Uint8Array(), covered: 0 }

function isMaskable(value: string): boolean {
  return [...value.slice(0, 2 * minCharacters)].length >= minCharacters
}

export class SecretMask {
  /** Each node is a prefix of some values. Its children are a linked list. */
  readonly #byte: Uint8Array
  readonly #firstChild: Int32Array
  readonly #nextSibling: Int32Array
  readonly #fail: Int32Array
  readonly #depth: Int32Array
  /** The length of the longest value that ends at the node; 0: none. */
  readonly #match: Int32Array
  #nodes = 1

  constructor(values: Iterable<string>) {
    const texts = new Set([...values].filter(isMaskable).flatMap((value) => [value, insideJson(value)]))
    const patterns = [...texts].map((text) => Buffer.from(text))
    const size = 1 + patterns.reduce((sum, { length }) => sum + length, 0)
    this.#byte = new Uint8Array(size)
    this.#firstChild = new Int32Array(size)
    this.#nextSibling = new Int32Array(size)
    this.#fail = new Int32Array(size)
    this.#depth = new Int32Array(size)
    this.#match = new Int32Array(size)
    for (const pattern of patterns) this.#add(pattern)
    this.#link()
  }

  get isEmpty(): boolean {
    return this.#nodes === 1
  }

  maskText(text: string): string {
    if (this.isEmpty) return text
    const bytes = Buffer.from(text)
    const { masked, isChanged } = this.#scan(nothingHeld, bytes, true)
    return isChanged ? Buffer.from(masked).toString() : text
  }

  /** Masks texts, names of fields, and numbers as written. */
  maskJson(value: unknown): unknown {
    if (typeof value === 'string') return this.maskText(value)
    if (typeof value === 'number') {
      const text = this.maskText(String(value))
      return text === String(value) ? value : text
    }
    if (Array.isArray(value)) return value.map((each) => this.maskJson(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, of]) => [this.maskText(name), this.maskJson(of)]),
    )
  }

  /** Masks the next piece of an output; its held-back end is returned by the next call. */
  maskPiece(held: Held, piece: Uint8Array): { masked: Uint8Array; held: Held } {
    const { masked, held: left } = this.#scan(held, piece, false)
    return { masked, held: left }
  }

  /** The held-back bytes, at the end of the output. */
  maskEnd(held: Held): Uint8Array {
    return this.#scan(held, new Uint8Array(), true).masked
  }

  #scan(before: Held, piece: Uint8Array, isEnd: boolean) {
    const text = before.tail.length === 0 ? piece : Buffer.concat([before.tail, piece])
    // Disjoint and in order.
    const found: Found[] = before.covered === 0 ? [] : [{ start: 0, end: before.covered, isWritten: true }]
    let node = root
    for (let at = 0; at < text.length; at++) {
      node = this.#next(node, text[at] as number)
      const length = this.#match[node] as number
      if (length > 0) addFound(found, { start: at + 1 - length, end: at + 1, isWritten: false })
    }
    const heldFrom = text.length - (isEnd ? 0 : this.#depthOfOpen(node))
    const out: Uint8Array[] = []
    let written = 0
    for (const { start, end, isWritten } of found) {
      // It will be found again with the held-back bytes.
      if (start >= heldFrom && !isWritten) break
      out.push(text.subarray(written, start))
      if (!isWritten) out.push(maskBytes)
      written = end
    }
    if (written < heldFrom) out.push(text.subarray(written, heldFrom))
    const held = { tail: Uint8Array.from(text.subarray(heldFrom)), covered: Math.max(0, written - heldFrom) }
    return { masked: Buffer.concat(out), held, isChanged: found.length > 0 }
  }

  /** How many of the last bytes may be the beginning of a value that continues. */
  #depthOfOpen(last: number): number {
    let node = last
    while (node !== root && this.#firstChild[node] === root) node = this.#fail[node] as number
    return this.#depth[node] as number
  }

  #add(pattern: Uint8Array): void {
    let node = root
    for (const byte of pattern) node = this.#child(node, byte) ?? this.#newChild(node, byte)
    this.#match[node] = pattern.length
  }

  #child(node: number, byte: number): number | undefined {
    for (let child = this.#firstChild[node] as number; child !== root; ) {
      if (this.#byte[child] === byte) return child
      child = this.#nextSibling[child] as number
    }
    return undefined
  }

  #newChild(parent: number, byte: number): number {
    const node = this.#nodes++
    this.#byte[node] = byte
    this.#depth[node] = (this.#depth[parent] as number) + 1
    this.#nextSibling[node] = this.#firstChild[parent] as number
    this.#firstChild[parent] = node
    return node
  }

  /** Sets the failure link of each node, the longest proper suffix that is a prefix of a value; breadth first. */
  #link(): void {
    const order = new Int32Array(this.#nodes)
    let added = 1
    for (let at = 0; at < added; at++) {
      const node = order[at] as number
      for (let child = this.#firstChild[node] as number; child !== root; ) {
        const fail =
          node === root ? root : this.#next(this.#fail[node] as number, this.#byte[child] as number)
        this.#fail[child] = fail
        if (this.#match[child] === 0) this.#match[child] = this.#match[fail] as number
        order[added++] = child
        child = this.#nextSibling[child] as number
      }
    }
  }

  #next(from: number, byte: number): number {
    for (let node = from; ; node = this.#fail[node] as number) {
      const child = this.#child(node, byte)
      if (child !== undefined) return child
      if (node === root) return root
    }
  }
}

/** A part of the text to mask; `isWritten`: its mask was written with an earlier piece. */
type Found = { start: number; end: number; isWritten: boolean }

/** Occurrences are found in the order of their ends; overlapping ones are merged. */
function addFound(all: Found[], found: Found): void {
  let { start, isWritten } = found
  for (let last = all.at(-1); last !== undefined && last.end > start; last = all.at(-1)) {
    start = Math.min(start, last.start)
    isWritten ||= last.isWritten
    all.pop()
  }
  all.push({ start, end: found.end, isWritten })
}

/** As it appears inside a JSON document that a handler prints. */
function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
