// The session cookie: not readable by scripts, sent by our own pages only.

import { sessionCookie } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

export function sessionOf({ headers }: FastifyRequest): string | undefined {
  const { cookie } = headers
  if (cookie === undefined) return undefined
  for (const pair of cookie.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === sessionCookie) return value
  }
  return undefined
}

/** 0 seconds deletes it. */
export function sessionCookieHeader(request: FastifyRequest, session: string, seconds: number): string {
  // A proxy in front may terminate TLS; the origin of the page tells.
  const isSecure = request.protocol === 'https' || (request.headers.origin?.startsWith('https:') ?? false)
  const secure = isSecure ? '; Secure' : ''
  return `${sessionCookie}=${session}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
