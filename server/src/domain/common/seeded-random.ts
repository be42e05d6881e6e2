// Random numbers that are equal for equal seeds, so that a draw can be repeated on another node or after a restart. Not for
// secrets.

import { hash } from 'node:crypto'

/** From 0 up to, but not including, 1 (sfc32). */
export function seededRandom(seed: string): () => number {
  const bytes = hash('sha256', seed, 'buffer')
  let [a, b, c, d] = [bytes.readInt32LE(0), bytes.readInt32LE(4), bytes.readInt32LE(8), bytes.readInt32LE(12)]
  return () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + t) | 0
    return (t >>> 0) / 2 ** 32
  }
}
