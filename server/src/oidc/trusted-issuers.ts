// Verifies tokens of issuers in the settings, with jose. Only signatures by a key of the issuer are valid: tokens without a
// signature, or with the public key as HMAC secret, are refused.

import { createRemoteJWKSet, jwtVerify } from 'jose'
import { allowInsecureRequests, type Configuration, discovery, None } from 'openid-client'
import type { Claims } from '../domain/access/claims.ts'
import { SignInRefused } from '../domain/access/issuer-errors.ts'
import type { VerifyTrusted } from '../domain/access/ports/issuer.ts'
import { toIssuerError } from './issuer-failure.ts'
import { skewSeconds, timeoutSeconds } from './open-id-issuer.ts'

/** Only asymmetric algorithms. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
type Keys = ReturnType<typeof createRemoteJWKSet>
type TrustedIssuers = {
  verify: VerifyTrusted
  /** Checks that the issuer is reachable; throws the same errors as `verify`. */
  ask: (issuer: string) => Promise<void>
}

/** Keys are fetched on first use, and again, at most every 30 s, when a token has an unknown key. */
export function trustIssuers(now: () => number): TrustedIssuers {
  const found = new Map<string, Promise<Keys>>()
  const keysOf = (issuer: string): Promise<Keys> => {
    const known = found.get(issuer) ?? findKeys(issuer)
    found.set(issuer, known)
    known.catch(() => found.delete(issuer))
    return known
  }
  const verify: VerifyTrusted = async (token, { issuer, audience, maxAgeSeconds }): Promise<Claims> => {
    try {
      const { payload } = await jwtVerify(token, await keysOf(issuer), {
        ...{ issuer, audience, algorithms, clockTolerance: skewSeconds },
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(now()),
        ...(maxAgeSeconds !== undefined && { maxTokenAge: maxAgeSeconds }),
      })
      return payload
    } catch (error) {
      throw toIssuerError(error)
    }
  }
  const ask = async (issuer: string) => {
    await keysOf(issuer).catch((error) => {
      throw toIssuerError(error)
    })
  }
  return { verify, ask }
}

async function findKeys(issuer: string): Promise<Keys> {
  const url = new URL(issuer)
  const execute = url.protocol === 'http:' ? [allowInsecureRequests] : []
  const config: Configuration = await discovery(url, 'jobcast', undefined, None(), {
    execute,
    timeout: timeoutSeconds,
  })
  const { jwks_uri: keys } = config.serverMetadata()
  if (keys === undefined) throw new SignInRefused('the issuer has no keys')
  return createRemoteJWKSet(new URL(keys), { timeoutDuration: timeoutSeconds * 1000 })
}
