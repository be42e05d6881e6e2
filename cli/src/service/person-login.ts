// Sign-in of a person at the issuer of the service, with a code that is entered in a browser (device flow, RFC 8628). The
// issuer's token is exchanged for a key that is valid for 15 minutes.

import { Jobcast } from '@jobcast/client'
import {
  allowInsecureRequests,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client'
import { UsageError } from '../errors/usage-error.ts'
import { isLoopback } from './http-url.ts'
import type { Profile, ProfilePerson } from './profiles.ts'
import { reasonOf } from './reach.ts'

/** The response of /auth/config. */
type AuthConfig = { oidc: boolean; issuer: string | null; clientId: string | null; scopes: string | null }
type Issuer = { issuer: string; clientId: string; scopes: string }

const timeoutSeconds = 15

/** Undefined if the service has no issuer. */
export async function readAuthConfig(url: string): Promise<Issuer | undefined> {
  const response = await fetch(`${url}/auth/config`, {
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  }).catch(() => undefined)
  if (!response?.ok) return undefined
  const config = (await response.json().catch(() => undefined)) as AuthConfig | undefined
  const { oidc = false, issuer, clientId, scopes } = config ?? {}
  return oidc && issuer && clientId ? { issuer, clientId, scopes: scopes ?? 'openid' } : undefined
}

export async function signInByCode(
  url: string,
  { issuer, clientId, scopes }: Issuer,
  owner: string | undefined,
  say: (line: string) => void,
): Promise<Profile> {
  const person = { issuer, clientId, ...(owner !== undefined && { owner }), expiresAt: 0 }
  return atIssuer(issuer, async () => {
    const config = await discover(person)
    const asked = await initiateDeviceAuthorization(config, { scope: scopes })
    say(`Open ${asked.verification_uri} and enter the code ${asked.user_code}`)
    if (asked.verification_uri_complete) say(`or open ${asked.verification_uri_complete}`)
    const tokens = await pollDeviceAuthorizationGrant(config, asked)
    return exchange(url, person, tokens)
  })
}

/** Undefined if the person must sign in again. */
export async function renewKey({ url, person }: Profile): Promise<Profile | undefined> {
  const { refreshToken } = person ?? {}
  if (person === undefined || refreshToken === undefined) return undefined
  return atIssuer(person.issuer, async () => {
    const tokens = await refreshTokenGrant(await discover(person), refreshToken)
    return exchange(url, person, tokens)
  })
}

/** Best effort: does nothing if the issuer is unreachable. */
export async function revokeSignIn(person: ProfilePerson): Promise<void> {
  const { refreshToken } = person
  if (refreshToken === undefined) return
  await discover(person)
    .then((config) => tokenRevocation(config, refreshToken))
    .catch(() => undefined)
}

type Tokens = { access_token: string; id_token?: string; refresh_token?: string }

async function exchange(
  url: string,
  { issuer, clientId, owner, refreshToken: before }: ProfilePerson,
  { access_token: accessToken, id_token: idToken, refresh_token: refreshToken = before }: Tokens,
): Promise<Profile> {
  if (idToken === undefined)
    throw new UsageError(`${issuer} gives no ID token; oidc-scopes must have "openid" in it`)
  const { session } = new Jobcast({ url, maxRetries: 1 })
  const issued = await session.exchange(idToken, {
    accessToken,
    ...(owner !== undefined && { audience: owner }),
  })
  const expiresAt = Date.now() + issued.expires_in * 1000
  const renewed = {
    ...(refreshToken !== undefined && { refreshToken }),
    ...(owner !== undefined && { owner }),
  }
  return { url, apiKey: issued.access_token, person: { issuer, clientId, ...renewed, expiresAt } }
}

export function discover({
  issuer,
  clientId,
}: Pick<ProfilePerson, 'issuer' | 'clientId'>): Promise<Configuration> {
  const url = new URL(issuer)
  // Clear text is allowed only on this machine: the issuer's address may itself have arrived in clear text.
  const execute = url.protocol === 'http:' && isLoopback(url) ? [allowInsecureRequests] : []
  return discovery(url, clientId, undefined, None(), { execute, timeout: timeoutSeconds })
}

/** Errors of the issuer as one line; those of the service have their own. */
async function atIssuer<T>(issuer: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const { code, error: said, error_description: more } = error as Record<string, unknown>
    const isOfIssuer = typeof said === 'string' || (typeof code === 'string' && code.startsWith('OAUTH_'))
    if (!isOfIssuer && !(error instanceof TypeError)) throw error
    const reason =
      [said, more].filter((each) => typeof each === 'string').join(': ') || reasonOf(error as Error)
    throw new UsageError(
      `${issuer} refused the sign-in or cannot be reached (${reason}); run "jobcast login" again`,
    )
  }
}
