// The headers of a plain trigger: each at most once, and none that would change what is done or answered.

import type { IncomingMessage } from 'node:http'
import { isJsonType } from '../wire/json-type.ts'

export type PlainHeaders = { apiKey: string; userAgent: string | undefined; bodyBytes: number }

/** Of what every client sends; they change nothing. */
const without = ['accept-encoding', 'accept-language', 'sec-fetch-mode']
const read = ['host', 'x-api-key', 'content-type', 'content-length', 'user-agent', 'accept', 'connection']
const positions = new Map([...read, ...without].map((name, index) => [name, index]))

const maxBytes = 64 * 1024
const bodyLength = /^[1-9]\d{0,4}$/

/** Undefined: it is not plain. */
export function readPlainHeaders({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): PlainHeaders | undefined {
  if (httpVersion !== '1.1') return undefined
  const values: (string | undefined)[] = new Array(positions.size).fill(undefined)
  // rawHeaders alternates names and values.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    const position = positions.get(name) ?? positions.get(name.toLowerCase())
    if (position === undefined || values[position] !== undefined) return undefined
    values[position] = rawHeaders[at + 1]
  }
  const [host, apiKey, type, length, userAgent, accept, connection] = values
  if (host === undefined || apiKey === undefined || type === undefined || length === undefined)
    return undefined
  const bodyBytes = Number(length)
  const hasBody = bodyLength.test(length) && bodyBytes < maxBytes && isJsonType(type)
  const wantsProblem = accept?.includes('problem+json') ?? false
  const isKept = connection === undefined || connection.toLowerCase() === 'keep-alive'
  return hasBody && isKept && !wantsProblem ? { apiKey, userAgent, bodyBytes } : undefined
}
