// Repr-Digest and Content-Digest (RFC 9530) and their predecessor Digest (RFC 3230): the sha256 of the content according to the
// sender. In a partial upload, Content-Digest is that of the part.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

/** In hexadecimal; undefined: no header. Throws J-500. */
export function digestOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const found = [
    readDigest('Repr-Digest', headers['repr-digest'], /^sha-256=:([A-Za-z0-9+/]{43}=):$/i),
    readDigest('Content-Digest', headers['content-digest'], /^sha-256=:([A-Za-z0-9+/]{43}=):$/i),
    readDigest('Digest', headers.digest, /^sha-256=([A-Za-z0-9+/]{43}=)$/i),
  ].filter((digest) => digest !== undefined)
  if (new Set(found).size > 1) {
    throw new ApiError('J-500', { field: 'digest', detail: 'Repr-Digest, Content-Digest and Digest differ.' })
  }
  return found[0]
}

/** The digest of the whole content if the body is a part. Throws J-500. */
export function wholeDigestOf({ headers }: Pick<FastifyRequest, 'headers'>): string {
  if (headers['content-digest'] !== undefined) {
    const detail = 'With Content-Range, Content-Digest is that of the part: send Repr-Digest instead.'
    throw new ApiError('J-500', { field: 'content-digest', detail })
  }
  const digest = digestOf({ headers })
  if (digest !== undefined) return digest
  const detail =
    'With Content-Range, Repr-Digest: sha-256=:…: with the sha256 of the whole content is required.'
  throw new ApiError('J-500', { field: 'repr-digest', detail })
}

function readDigest(name: string, given: string | string[] | undefined, form: RegExp): string | undefined {
  if (given === undefined) return undefined
  const members = String(given)
    .split(',')
    .map((each) => each.trim())
  const matches = members.map((member) => form.exec(member)?.[1]).filter((each) => each !== undefined)
  const [digest] = matches
  if (digest !== undefined && matches.length === 1) return Buffer.from(digest, 'base64').toString('hex')
  const example = name === 'Digest' ? 'sha-256=…' : 'sha-256=:…:'
  const detail = `${name} must have one ${example} with the sha256 of the content in base64.`
  throw new ApiError('J-500', { field: name.toLowerCase(), detail })
}
