// The body of a receiver's rejection: it often names the reason, such as `invalid_blocks`. The owner of the webhook sees the
// beginning.

import type { IncomingMessage } from 'node:http'

/** More than the longest text shown, because control characters and white space are collapsed. */
const maxBytes = 1024
const maxLength = 200

/** Reads alongside other listeners; the returned function gives the text received so far. */
export function readAnswerText(response: IncomingMessage): () => string {
  const chunks: Buffer[] = []
  let missing = maxBytes
  response.on('data', (chunk: Buffer) => {
    if (missing <= 0) return
    chunks.push(chunk.subarray(0, missing))
    missing -= chunk.length
  })
  return () => shownText(Buffer.concat(chunks).toString())
}

/** A single line without invisible characters. */
function shownText(text: string): string {
  const plain = text.replace(/[\s\p{Cc}\p{Cf}\p{DI}\p{Zs}\p{Zl}\p{Zp}\u2800\ufffd]+/gu, ' ').trim()
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1).toWellFormed()}…` : plain
}
