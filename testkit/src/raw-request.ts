// A trigger request as bytes, with parts that a test can replace.

export type RequestParts = {
  line?: string
  /** Replace the usual headers of the same name; a name alone removes the usual one. */
  headers?: string[]
  body?: string | Buffer
}

/** Asks the server to close the connection, so that the end of the response is seen at once. */
export function rawRequest(apiKey: string, { line, headers = [], body = '' }: RequestParts): Buffer {
  const given = new Set(headers.map(nameOf))
  const usual = [
    'Host: localhost',
    `X-API-Key: ${apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ].filter((header) => !given.has(nameOf(header)))
  const sent = [...usual, ...headers.filter((header) => header.includes(':'))]
  const head = `${line ?? 'POST /job/api/jobs/execute HTTP/1.1'}\r\n${sent.join('\r\n')}\r\n\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
}

function nameOf(header: string): string {
  return (header.split(':')[0] as string).trim().toLowerCase()
}
