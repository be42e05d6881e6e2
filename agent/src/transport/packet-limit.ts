// Detects a packet above the limit by its first bytes, before the MQTT library buffers it: the library buffers as much as
// the packet's header announces, up to 256 MB, and in MQTT 5 a client can only ask the server for smaller packets.

/** A larger remaining length has no encoding. */
const maxLengthBytes = 4

export class PacketLimit {
  readonly #maxBytes: number
  /** Remaining bytes of the packet that is arriving. */
  #bodyBytesLeft = 0
  /** Received bytes of its header; 0 before the first byte and while the body arrives. */
  #headerBytes = 0
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Takes the received bytes in order. Returns false when a packet is too long or malformed. */
  accepts(chunk: Uint8Array): boolean {
    let at = 0
    while (at < chunk.length) {
      const skipped = Math.min(this.#bodyBytesLeft, chunk.length - at)
      this.#bodyBytesLeft -= skipped
      at += skipped
      if (at === chunk.length) break
      if (!this.#takeHeaderByte(chunk[at++] as number)) return false
    }
    return true
  }

  #takeHeaderByte(byte: number): boolean {
    if (this.#headerBytes === 0) {
      this.#headerBytes = 1
      this.#length = 0
      return true
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#headerBytes - 1)
    this.#headerBytes++
    if (byte & 0x80) return this.#headerBytes <= maxLengthBytes
    if (this.#headerBytes + this.#length > this.#maxBytes) return false
    this.#bodyBytesLeft = this.#length
    this.#headerBytes = 0
    return true
  }
}
