// The Merkle tree of RFC 9162 (2.1.1): leaves and nodes are hashed with different prefixes, so they cannot be confused.

import { hash } from 'node:crypto'

export const hashBytes = 32

const leafPrefix = '\0'
const nodePrefix = 1

/** `lines`: exported entries, without line breaks. Returns the concatenated hashes. */
export function leafHashes(lines: readonly string[]): Buffer {
  const leaves = Buffer.alloc(lines.length * hashBytes)
  for (const [index, line] of lines.entries()) writeHash(leaves, index * hashBytes, leafPrefix + line)
  return leaves
}

/** Writes into one buffer, because allocating a buffer per hash takes longer than hashing. */
function writeHash(into: Buffer, at: number, data: string | Buffer): void {
  into.write(hash('sha256', data, 'binary'), at, 'latin1')
}

/** `leaves`: concatenated hashes; at least one. */
export function merkleRoot(leaves: Uint8Array): Buffer {
  const count = leaves.length / hashBytes
  if (count < 1 || !Number.isInteger(count)) throw new Error('a Merkle tree has at least one leaf')
  const level = Buffer.from(leaves)
  const pair = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)
  // The last node of an odd level moves up unchanged, which gives the same tree as splitting at powers of two.
  for (let left = count; left > 1; left = Math.ceil(left / 2)) {
    for (let at = 0; at < left; at += 2) {
      const to = (at / 2) * hashBytes
      const isPair = at + 1 < left
      const from = at * hashBytes
      if (isPair) level.copy(pair, 1, from, from + 2 * hashBytes)
      if (isPair) writeHash(level, to, pair)
      else level.copy(level, to, from, from + hashBytes)
    }
  }
  return Buffer.from(level.subarray(0, hashBytes))
}
