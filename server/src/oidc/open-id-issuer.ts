// The issuer for people, with openid-client: discovery, code flow with PKCE, state and nonce, refresh, sign-out.
//
// ID tokens are verified with the keys of the issuer even if they come directly from its token endpoint, so that a proxy in
// between cannot forge them. Read next: trusted-issuers.ts, the exchange of tokens of other issuers.

import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client'
import { type Claims, hasClaim } from '../domain/access/claims.ts'
import { SignInRefused } from '../domain/access/issuer-errors.ts'
import type { Issuer, SignedIn, VerifyTrusted } from '../domain/access/ports/issuer.ts'
import type { IssuerTokens } from '../domain/access/seal-tokens.ts'
import { toIssuerError } from './issuer-failure.ts'

export type OidcSettings = Readonly<{
  issuer: string
  clientId: string
  clientSecret: string | undefined
  scopes: string
  claim: string
}>

export const skewSeconds = 60
export const timeoutSeconds = 10
/** Groups may change while an ID token is valid, so only a new token is accepted. */
const maxAgeSeconds = 5 * 60
/** The groups of a person are at most an hour old, as in sessions. */
const maxAccessAgeSeconds = 60 * 60
/** Limits how often sign-ins cause requests to the issuer. */
const foundForMs = 60_000

export class OpenIdIssuer implements Issuer {
  readonly #settings: OidcSettings
  readonly #publicUrl: string
  readonly #verify: VerifyTrusted
  readonly #now: () => number
  #found: { config: Configuration; at: number } | undefined
  #asking: Promise<Configuration> | undefined

  constructor(settings: OidcSettings, publicUrl: string, verify: VerifyTrusted, now: () => number) {
    this.#settings = settings
    this.#publicUrl = publicUrl
    this.#verify = verify
    this.#now = now
  }

  /** Reads the issuer's metadata, once for all concurrent callers. */
  rediscover(): Promise<Configuration> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<Configuration> {
    try {
      const config = await discover(this.#settings)
      this.#found = { config, at: this.#now() }
      return config
    } catch (error) {
      throw toIssuerError(error)
    }
  }

  async #discovered(): Promise<Configuration> {
    return this.#found?.config ?? this.rediscover()
  }

  async #discoveredLately(): Promise<Configuration> {
    const found = this.#found
    if (found === undefined || Math.abs(this.#now() - found.at) >= foundForMs) return this.rediscover()
    // Drops the cached keys, because the issuer may have new ones.
    found.config = withoutKeys(found.config, this.#settings)
    return found.config
  }

  async begin({ again }: { again: boolean }) {
    // Browsers are not redirected to an issuer that does not respond.
    const config = await this.#discoveredLately()
    const checks = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() }
    const { scopes } = this.#settings
    // Without consent an issuer ignores the scope (OpenID Connect Core, section 11).
    const isOffline = scopes.split(' ').includes('offline_access')
    const prompt = [...(again ? ['login'] : []), ...(isOffline ? ['consent'] : [])]
    const url = buildAuthorizationUrl(config, {
      redirect_uri: this.#redirectUri,
      scope: scopes,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await calculatePKCECodeChallenge(checks.codeVerifier),
      code_challenge_method: 'S256',
      ...(prompt.length > 0 && { prompt: prompt.join(' ') }),
    })
    return { url: url.href, checks }
  }

  async finish(query: string, { state, nonce, codeVerifier }: Parameters<Issuer['finish']>[1]) {
    const config = await this.#discovered()
    try {
      const answer = await authorizationCodeGrant(config, new URL(`${this.#redirectUri}${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      })
      return await this.#signedIn(config, answer, undefined)
    } catch (error) {
      throw toIssuerError(error)
    }
  }

  async refresh(refreshToken: string, subject: string) {
    const config = await this.#discovered()
    try {
      return await this.#signedIn(config, await refreshTokenGrant(config, refreshToken), subject)
    } catch (error) {
      throw toIssuerError(error)
    }
  }

  async signOut({ refreshToken, idToken }: IssuerTokens): Promise<string | null> {
    const config = await this.#discovered()
    const { end_session_endpoint: page, revocation_endpoint: revocation } = config.serverMetadata()
    if (revocation !== undefined && refreshToken !== null)
      await tokenRevocation(config, refreshToken).catch(() => undefined)
    if (page === undefined) return null
    return buildEndSessionUrl(config, {
      post_logout_redirect_uri: `${this.#publicUrl}/sign-in`,
      ...(idToken !== null && { id_token_hint: idToken }),
    }).href
  }

  async verify(idToken: string, accessToken: string | undefined): Promise<Claims> {
    const { clientId, issuer } = this.#settings
    const said = await this.#verify(idToken, { issuer, audience: clientId, maxAgeSeconds })
    if (said.azp !== undefined && said.azp !== clientId) throw new SignInRefused('issued to another client')
    return accessToken === undefined ? said : this.#completed(said, accessToken)
  }

  async verifyAccess(accessToken: string, audience: string): Promise<Claims> {
    const { issuer } = this.#settings
    const expected = { issuer, audience, maxAgeSeconds: maxAccessAgeSeconds }
    return this.#completed(await this.#verify(accessToken, expected), accessToken)
  }

  async #completed(said: Claims, accessToken: string): Promise<Claims> {
    if (typeof said.sub !== 'string') return said
    const config = await this.#discovered()
    try {
      return { ...(await this.#moreClaims(config, said, said.sub, accessToken)), ...said }
    } catch (error) {
      throw toIssuerError(error)
    }
  }

  get #redirectUri(): string {
    return `${this.#publicUrl}/auth/callback`
  }

  /** Many issuers return groups only from /userinfo. A refresh may not return an ID token. */
  async #signedIn(
    config: Configuration,
    answer: Awaited<ReturnType<typeof refreshTokenGrant>>,
    subject: string | undefined,
  ): Promise<SignedIn> {
    const said: Claims = answer.claims() ?? {}
    const sub = typeof said.sub === 'string' ? said.sub : subject
    if (sub === undefined || (subject !== undefined && sub !== subject)) throw new SignInRefused('no subject')
    const info = await this.#moreClaims(config, said, sub, answer.access_token)
    const tokens = { refreshToken: answer.refresh_token ?? null, idToken: answer.id_token ?? null }
    return { claims: { ...info, ...said, sub }, tokens }
  }

  async #moreClaims(
    config: Configuration,
    said: Claims,
    subject: string,
    accessToken: string,
  ): Promise<Claims> {
    const { userinfo_endpoint: page } = config.serverMetadata()
    if (hasClaim(said, this.#settings.claim) || page === undefined) return {}
    return fetchUserInfo(config, accessToken, subject)
  }
}

function discover(settings: OidcSettings): Promise<Configuration> {
  const { client, authentication, execute } = clientOf(settings)
  const options = { execute, timeout: timeoutSeconds }
  return discovery(new URL(settings.issuer), settings.clientId, client, authentication, options)
}

function withoutKeys(found: Configuration, settings: OidcSettings): Configuration {
  const { client, authentication, execute } = clientOf(settings)
  const config = new Configuration(found.serverMetadata(), settings.clientId, client, authentication)
  config.timeout = timeoutSeconds
  for (const extend of execute) extend(config)
  return config
}

function clientOf({ issuer, clientSecret }: OidcSettings) {
  const isClear = new URL(issuer).protocol === 'http:'
  const client = {
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    [clockTolerance]: skewSeconds,
  }
  const authentication = clientSecret === undefined ? None() : undefined
  return {
    ...{ client, authentication },
    execute: [enableNonRepudiationChecks, ...(isClear ? [allowInsecureRequests] : [])],
  }
}
