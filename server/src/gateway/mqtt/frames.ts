// Splits a stream of bytes into complete packets. mqtt-packet would buffer up to 256 MB for one packet; here its first
// bytes are checked before the rest has arrived.

import { ProtocolError, type Reason } from './reason.ts'

export type FrameRules = {
  /** Length after the fixed header. */
  maxLength: number
  /** Why a packet that begins with this byte is refused. */
  refusalOf(firstByte: number): Reason | undefined
}

const nothing = Buffer.alloc(0)
const mostLengthBytes = 4

export class Frames {
  // The received chunk while it holds everything, else our own buffer with spare room.
  #bytes: Buffer = nothing
  #start = 0
  #end = 0

  push(chunk: Buffer): void {
    const waiting = this.#end - this.#start
    if (waiting === 0) {
      this.#bytes = chunk
      this.#start = 0
      this.#end = chunk.length
      return
    }
    if (this.#bytes.length - this.#end < chunk.length) {
      // Doubling: a packet that arrives byte by byte is not copied for every byte.
      const larger = Buffer.allocUnsafe(Math.max(waiting + chunk.length, 2 * waiting))
      this.#bytes.copy(larger, 0, this.#start, this.#end)
      this.#bytes = larger
      this.#start = 0
      this.#end = waiting
    }
    chunk.copy(this.#bytes, this.#end)
    this.#end += chunk.length
  }

  /** The next packet including its header; undefined until it is complete. Throws ProtocolError. */
  next({ maxLength, refusalOf }: FrameRules): Buffer | undefined {
    if (this.#start === this.#end) return undefined
    const refusal = refusalOf(this.#bytes[this.#start] as number)
    if (refusal !== undefined) throw new ProtocolError(refusal)
    let length = 0
    for (let i = 1; i <= mostLengthBytes; i++) {
      if (this.#start + i >= this.#end) return undefined
      const byte = this.#bytes[this.#start + i] as number
      length += (byte & 0x7f) * 128 ** (i - 1)
      if (byte < 0x80) {
        if (length > maxLength) throw new ProtocolError('too-large')
        return this.#cut(1 + i + length)
      }
    }
    throw new ProtocolError('malformed')
  }

  get isEmpty(): boolean {
    return this.#start === this.#end
  }

  clear(): void {
    this.#bytes = nothing
    this.#start = 0
    this.#end = 0
  }

  #cut(size: number): Buffer | undefined {
    const end = this.#start + size
    if (end > this.#end) return undefined
    const frame = this.#bytes.subarray(this.#start, end)
    this.#start = end
    if (end === this.#end) this.clear()
    return frame
  }
}
