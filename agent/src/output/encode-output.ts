import { isUtf8 } from 'node:buffer'

/** A piece of output as sent over the wire, and how many bytes of the input it covers. */
type EncodedPiece = { data: string; encoding?: 'base64'; bytes: number }

/** Even as base64 it stays well below the packet limit of 128 KiB. */
export const pieceBytes = 64 * 1024

/**
 * Plain text if it is valid UTF-8 and not longer than base64: control characters take six characters each in JSON. An
 * incomplete character at the end is left for the next piece, unless it is all there is.
 */
export function encodePiece(bytes: Buffer): EncodedPiece {
  const complete = bytes.subarray(0, bytes.length - incompleteBytes(bytes))
  if (complete.length > 0 && isUtf8(complete)) {
    const data = complete.toString()
    if (JSON.stringify(data).length <= (complete.length * 4) / 3 + 16) return { data, bytes: complete.length }
  }
  return { data: bytes.toString('base64'), encoding: 'base64', bytes: bytes.length }
}

/** Length of an incomplete character at the end. */
function incompleteBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? back : 0
  }
  return 0
}
