// Reads the serial numbers in certificate revocation lists (RFC 5280, 5.1), only to find connections that should be closed.
// Whether a certificate is trusted is decided by TLS, with the same file.

const [begin, end] = ['-----BEGIN X509 CRL-----', '-----END X509 CRL-----']

/** Takes lists in PEM; returns upper-case hexadecimal without leading zeros. Throws if a list cannot be read. */
export function revokedSerials(lists: readonly string[]): Set<string> {
  const serials = new Set<string>()
  for (const list of lists) for (const serial of serialsOf(derOf(list))) serials.add(serial)
  return serials
}

/** A file may have several lists, one for each CA; TLS takes them one by one. */
export function splitRevocationLists(pem: string): string[] {
  return pem
    .split(begin)
    .slice(1)
    .map((part) => begin + part)
}

export function normalizeSerial(hex: string): string {
  return hex.toUpperCase().replace(/^0+/, '')
}

function derOf(list: string): Buffer {
  const stop = list.indexOf(end)
  if (stop < 0) throw new Error('a revocation list has no end')
  return Buffer.from(list.slice(begin.length, stop), 'base64')
}

const tags = { integer: 0x02, utcTime: 0x17, generalizedTime: 0x18, sequence: 0x30 }

function* serialsOf(der: Buffer): Generator<string> {
  const [list] = elementsOf(der)
  const [signed] = elementsOf(expect(list, tags.sequence))
  const fields = [...elementsOf(expect(signed, tags.sequence))]
  if (fields[0]?.tag === tags.integer) fields.shift() // version
  const [, , , next, ...rest] = fields // algorithm, issuer, this update
  const isTime = next?.tag === tags.utcTime || next?.tag === tags.generalizedTime
  const revoked = isTime ? rest[0] : next
  if (revoked?.tag !== tags.sequence) return // none is revoked
  for (const entry of elementsOf(revoked.content)) {
    const [serial] = elementsOf(expect(entry, tags.sequence))
    yield normalizeSerial(expect(serial, tags.integer).toString('hex'))
  }
}

type Element = { tag: number; content: Buffer }

function expect(element: Element | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new Error('a revocation list is malformed')
  return element.content
}

/** The elements at the top level, in sequence. */
function* elementsOf(der: Buffer): Generator<Element> {
  for (let at = 0; at < der.length; ) {
    const tag = der.readUInt8(at)
    const first = der.readUInt8(at + 1)
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f
    if (lengthBytes > 4) throw new Error('a revocation list is malformed')
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes)
    const start = at + 2 + lengthBytes
    if (start + length > der.length) throw new Error('a revocation list is truncated')
    yield { tag, content: der.subarray(start, start + length) }
    at = start + length
  }
}
