// The maximum depth of untrusted JSON. Checked on the bytes before they are parsed: a parser takes 100 ms for 128 KB of
// brackets, and recursive functions over the value would overflow the stack.

export const maxJsonDepth = 32

const openers = [0x5b, 0x7b]
const opener = new Set(openers)
const closer = new Set([0x5d, 0x7d])
const quote = 0x22
const backslash = 0x5c

/** The result for invalid JSON may be either; the parser rejects it. */
export function isNestedTooDeep(json: Uint8Array, maxDepth = maxJsonDepth): boolean {
  return hasMoreOpeners(json, maxDepth) && depthExceeds(json, maxDepth)
}

/** A fast path for almost all bodies, which have few brackets: it runs at the speed of memchr. */
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
