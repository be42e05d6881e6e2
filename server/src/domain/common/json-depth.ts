// How deep JSON from others may be nested. Judged on the bytes, before they are parsed: a parser takes 100 ms for 128 KB of
// brackets, and whatever walks the value would run out of stack.

export const maxJsonDepth = 32

const openers = [0x5b, 0x7b]
const opener = new Set(openers)
const closer = new Set([0x5d, 0x7d])
const quote = 0x22
const backslash = 0x5c

/** Bytes that are not JSON may be judged either way: the parser refuses them. */
export function isNestedTooDeep(json: Uint8Array, maxDepth = maxJsonDepth): boolean {
  return hasMoreOpeners(json, maxDepth) && depthExceeds(json, maxDepth)
}

/** Almost every body has a few brackets and is done with here, at the speed of memchr. */
function hasMoreOpeners(json: Uint8Array, limit: number): boolean {
  let count = 0
  for (const byte of openers) {
    for (let at = json.indexOf(byte); at >= 0; at = json.indexOf(byte, at + 1)) {
      if (++count > limit) return true
    }
  }
  return false
}

function depthExceeds(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number
    if (byte === quote) at = endOfString(json, at)
    else if (opener.has(byte)) {
      if (++depth > maxDepth) return true
    } else if (closer.has(byte)) depth--
  }
  return false
}

/** The position of the closing quote. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === backslash) at++
    else if (json[at] === quote) return at
  }
  return json.length
}
