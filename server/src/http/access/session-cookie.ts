// The session cookie: not readable by scripts, sent by our own pages only. Over TLS its name has the prefix __Host-, so no
// other host of the domain can set it, and cookies without the prefix are ignored.

import { sessionCookie } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'

const securePrefix = '__Host-'

export function sessionOf(request: FastifyRequest, publicUrl: string | undefined): string | undefined {
  return cookieOf(request, sessionCookie, publicUrl)
}

function cookieOf(
  request: FastifyRequest,
  wanted: string,
  publicUrl: string | undefined,
): string | undefined {
  const { cookie } = request.headers
  if (cookie === undefined) return undefined
  let plain: string | undefined
  for (const pair of cookie.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === securePrefix + wanted) return value
    if (name === wanted) plain ??= value
  }
  // The Origin header is ignored here, because the page chooses it.
  return isOverTls(request, publicUrl) ? undefined : plain
}

/** 0 seconds deletes it. */
export function sessionCookieHeader(
  request: FastifyRequest,
  session: string,
  seconds: number,
  publicUrl: string | undefined,
): string {
  return cookieHeader(isSecure(request, publicUrl), `${sessionCookie}=${session}`, seconds, 'Strict')
}

/** The cookie of a sign-in at the issuer. It is also sent from other sites, because the browser returns from one. */
export function signInCookieHeader(
  request: FastifyRequest,
  kept: string,
  seconds: number,
  publicUrl: string | undefined,
): string {
  return cookieHeader(isSecure(request, publicUrl), `${signInCookie}=${kept}`, seconds, 'Lax')
}

const signInCookie = 'jobcast_sign_in'

export function keptForSignIn(request: FastifyRequest, publicUrl: string | undefined): string | undefined {
  return cookieOf(request, signInCookie, publicUrl)
}

/** A proxy may terminate TLS, which is determined by the setting or by the origin of the page. */
function isSecure(request: FastifyRequest, publicUrl: string | undefined): boolean {
  return isOverTls(request, publicUrl) || (request.headers.origin?.startsWith('https:') ?? false)
}

function isOverTls({ protocol }: FastifyRequest, publicUrl = ''): boolean {
  return protocol === 'https' || publicUrl.startsWith('https:')
}

function cookieHeader(isSecure: boolean, pair: string, seconds: number, sameSite: 'Strict' | 'Lax'): string {
  const cookie = `${pair}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}`
  return isSecure ? `${securePrefix}${cookie}; Secure` : cookie
}
