// Classifies errors of openid-client and jose: the issuer is unavailable, or refuses.

import { errors } from 'jose'
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client'
import { IssuerUnavailable, SignInRefused } from '../domain/access/issuer-errors.ts'

/** Codes of openid-client that indicate a broken proxy, a maintenance page, or a timeout. */
const unavailable = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_JSON'])
const serverErrors = 500

export function toIssuerError(error: unknown): Error {
  if (error instanceof IssuerUnavailable || error instanceof SignInRefused) return error
  return isUnavailable(error) ? new IssuerUnavailable(error) : new SignInRefused(error)
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof AuthorizationResponseError)
    return error.error === 'temporarily_unavailable' || error.error === 'server_error'
  // Other errors, such as a wrong client secret, are caused by settings and must not sign people out.
  if (error instanceof ResponseBodyError) return error.error !== 'invalid_grant'
  if (error instanceof ClientError) return unavailable.has(error.code ?? '') || isServerError(error.cause)
  if (error instanceof errors.JWKSTimeout) return true
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC'
  // fetch could not connect.
  return error instanceof TypeError
}

function isServerError(cause: unknown): boolean {
  return cause instanceof Response && cause.status >= serverErrors
}
