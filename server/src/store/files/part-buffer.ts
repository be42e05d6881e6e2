/** Collects bytes up to the size of a part. Its capacity is the number of bytes that can still arrive, at most a part. */
export class PartBuffer {
  #bytes: Buffer
  #length = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
  }

  get length(): number {
    return this.#length
  }

  get isFull(): boolean {
    return this.#length === this.#bytes.length
  }

  /** Valid until more is added after `clear`. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Returns the number of accepted bytes. */
  add(chunk: Buffer): number {
    const taken = chunk.copy(this.#bytes, this.#length)
    this.#length += taken
    return taken
  }

  clear(): void {
    this.#length = 0
  }
}

const mib = 1024 * 1024
/** The minimum of S3, except for the last part. */
const leastPartBytes = 5 * mib
/** The maximum of S3 is 10,000. */
const maxParts = 9000

/** Whole MiB. */
export function partBytesFor(size: number, least = leastPartBytes): number {
  const needed = Math.ceil(size / maxParts)
  return needed <= least ? least : Math.ceil(needed / mib) * mib
}
