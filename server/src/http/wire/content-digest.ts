// Content-Digest (RFC 9530) and its predecessor Digest (RFC 3230): what the sender says that the sha256 of the body is.

import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

/** In hexadecimal; undefined: the sender says nothing. Throws J-500. */
export function digestOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const found = [
    readDigest('Content-Digest', headers['content-digest'], /^sha-256=:([A-Za-z0-9+/]{43}=):$/i),
    readDigest('Digest', headers.digest, /^sha-256=([A-Za-z0-9+/]{43}=)$/i),
  ].filter((digest) => digest !== undefined)
  if (new Set(found).size > 1) {
    throw new ApiError('J-500', { field: 'digest', detail: 'Content-Digest and Digest differ.' })
  }
  return found[0]
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
