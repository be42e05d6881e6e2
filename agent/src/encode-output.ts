import { isUtf8 } from 'node:buffer'

/** A piece of output as it goes over the wire, and how many of the bytes it holds. */
export type EncodedPiece = { data: string; encoding?: 'base64'; bytes: number }

/** As base64, and so at its longest, it stays well below the 128 KiB of a packet. */
export const pieceBytes = 64 * 1024

/**
 * Text where it is text and not longer for it: control characters take six characters each in JSON. A character whose
 * bytes are not all there yet waits for the next piece, unless it is all there is.
 */
export function encodePiece(bytes: Buffer): EncodedPiece {
  const whole = bytes.subarray(0, bytes.length - unfinishedBytes(bytes))
  if (whole.length > 0 && isUtf8(whole)) {
    const data = whole.toString()
    if (JSON.stringify(data).length <= (whole.length * 4) / 3 + 16) return { data, bytes: whole.length }
  }
  return { data: bytes.toString('base64'), encoding: 'base64', bytes: bytes.length }
}

/** Of the last character, when more of it is to come. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needed > back ? back : 0
  }
  return 0
}
