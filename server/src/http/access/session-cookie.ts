// The session cookie: not readable by scripts, sent by our own pages only. Over TLS its name has the prefix __Host-: then no
// other host of the domain can set it.

import { sessionCookie } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

const securePrefix = '__Host-'

export function sessionOf({ headers }: FastifyRequest): string | undefined {
  const { cookie } = headers
  if (cookie === undefined) return undefined
  let plain: string | undefined
  for (const pair of cookie.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === securePrefix + sessionCookie) return value
    if (name === sessionCookie) plain ??= value
  }
  return plain
}

/** 0 seconds deletes it. */
export function sessionCookieHeader(request: FastifyRequest, session: string, seconds: number): string {
  // A proxy in front may terminate TLS; the origin of the page tells.
  const isSecure = request.protocol === 'https' || (request.headers.origin?.startsWith('https:') ?? false)
  const cookie = `${sessionCookie}=${session}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
  return isSecure ? `${securePrefix}${cookie}; Secure` : cookie
}
