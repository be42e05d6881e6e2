// What a receiver said when it rejected a request: it often names the reason, such as `invalid_blocks`. The owner of the
// webhook sees the beginning.

import type { IncomingMessage } from 'node:http'

/** More than the longest text that is shown: some of it may be markup or blanks. */
const maxBytes = 1024
const maxLength = 200

/** Reads while others do; the text is as far as it has arrived. */
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

/** One line, without characters that a person does not see. */
function shownText(text: string): string {
  const plain = text.replace(/[\s\p{Cc}\p{Cf}\p{DI}\p{Zs}\p{Zl}\p{Zp}\u2800\ufffd]+/gu, ' ').trim()
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1).toWellFormed()}…` : plain
}
