// A trigger request as bytes, each part of which a test can spell in its own way.

export type RequestParts = {
  line?: string
  /** Come instead of the usual ones of the same name; a name alone leaves the usual one out. */
  headers?: string[]
  body?: string | Buffer
}

/** Asks for the connection to be closed, so that the end of the answer is seen at once. */
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
