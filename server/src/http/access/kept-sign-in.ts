// The cookie of a browser during a sign-in at the issuer: the checks of the sign-in, and the page to return to.

import type { FastifyRequest } from 'fastify'
import type { SignInChecks } from '../../domain/access/ports/issuer.ts'
import { keptForSignIn } from './session-cookie.ts'

export type KeptSignIn = SignInChecks & {
  returnTo: string
  /** The requested owner, if any. */
  owner: string | null
  /** Ends the previous session (sessionEnding), whose cookie is not sent when the browser comes from another site. */
  before: string | null
}

export const keptSeconds = 600

export function encodeKept(kept: KeptSignIn): string {
  return Buffer.from(JSON.stringify(kept)).toString('base64url')
}

/** Undefined: the cookie is missing or malformed. */
export function readKept(request: FastifyRequest, publicUrl: string | undefined): KeptSignIn | undefined {
  const text = keptForSignIn(request, publicUrl)
  if (text === undefined || text === '') return undefined
  try {
    const kept = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Partial<KeptSignIn> | null
    const { state, nonce, codeVerifier, returnTo, owner = null, before = null } = kept ?? {}
    const texts = [state, nonce, codeVerifier, returnTo, owner ?? '', before ?? '']
    if (!texts.every((each) => typeof each === 'string')) return undefined
    return { state, nonce, codeVerifier, returnTo: localPath(returnTo), owner, before } as KeptSignIn
  } catch {
    return undefined
  }
}

const maxPath = 500

/** Returns the path if it is one of this site, otherwise `/`: it could be a disguised address of another site. */
export function localPath(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > maxPath || !/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted)) return '/'
  const here = 'http://here.invalid'
  const url = URL.parse(wanted, here)
  // A path such as /.//x becomes the address of another site when its dots are removed.
  if (url?.origin !== here || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search + url.hash
}
