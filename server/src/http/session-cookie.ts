// The cookie that holds a session: out of reach of scripts, sent by our own pages only.

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

/** Gone at once with 0 seconds. */
export function spellCookie(request: FastifyRequest, session: string, seconds: number): string {
  // A proxy before us may speak TLS in our place; the browser says so by its origin.
  const isSecure = request.protocol === 'https' || (request.headers.origin?.startsWith('https:') ?? false)
  const secure = isSecure ? '; Secure' : ''
  return `${sessionCookie}=${session}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
