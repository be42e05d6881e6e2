// What a browser keeps in a cookie while it is at the issuer: the checks of its sign-in, and where it wanted to go.

import type { FastifyRequest } from 'fastify'
import type { SignInChecks } from '../../domain/access/ports/issuer.ts'
import { keptForSignIn } from './session-cookie.ts'

export type KeptSignIn = SignInChecks & {
  returnTo: string
  /** The owner that was asked for, if one was. */
  owner: string | null
  /** How to end the session before (sessionEnding): its own cookie is not sent when the browser comes from another site. */
  before: string | null
}

export const keptSeconds = 600

export function encodeKept(kept: KeptSignIn): string {
  return Buffer.from(JSON.stringify(kept)).toString('base64url')
}

/** Undefined: there is none, or it is not one of ours. */
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

/** A path of ours, and no address of another site that looks like one. */
export function localPath(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > maxPath || !/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted)) return '/'
  const here = 'http://here.invalid'
  const url = URL.parse(wanted, here)
  // Without its dots, a path such as /.//x is an address of another site.
  if (url?.origin !== here || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search + url.hash
}
