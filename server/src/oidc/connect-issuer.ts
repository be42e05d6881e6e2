// Connects the issuers in the settings. Only this folder implements OpenID Connect; the rules about people and their roles are
// in domain/access/.

import { ConfigError } from '../config/config-error.ts'
import type { OidcConfig } from '../config/oidc-settings.ts'
import type { People } from '../domain/access/exchange-token.ts'
import { IssuerUnavailable, reasonOf } from '../domain/access/issuer-errors.ts'
import type { VerifyTrusted } from '../domain/access/ports/issuer.ts'
import type { TrustRule } from '../domain/access/trust.ts'
import { OpenIdIssuer } from './open-id-issuer.ts'
import { trustIssuers } from './trusted-issuers.ts'

type Connected = {
  people: People | undefined
  publicUrl: string | undefined
  trust: readonly TrustRule[]
  verifyTrusted: VerifyTrusted
}

/**
 * Sends one request to each issuer: an unexpected response means that the settings are wrong. If an issuer cannot be reached,
 * the service starts anyway, because devices do not need it.
 */
export async function connectIssuer(
  { oidc, publicUrl, oidcTrust: trust }: OidcConfig,
  now: () => number,
  onFailure: (error: unknown) => void,
): Promise<Connected> {
  const { verify: verifyTrusted, ask } = trustIssuers(now)
  const askTrusted = (issuer: string) => requireIssuer('oidc-trust', issuer, () => ask(issuer), onFailure)
  await Promise.all(Array.from(new Set(trust.map(({ issuer }) => issuer)), askTrusted))
  if (oidc === undefined) return { people: undefined, publicUrl, trust, verifyTrusted }
  const issuer = new OpenIdIssuer(oidc, publicUrl ?? '', verifyTrusted, now)
  await requireIssuer('oidc-issuer', oidc.issuer, () => issuer.rediscover(), onFailure)
  const { issuer: issuerUrl, clientId, scopes, roles: groupRoles, claim: groupClaim } = oidc
  return {
    people: { issuer, issuerUrl, clientId, scopes, groupRoles, groupClaim },
    ...{ publicUrl, trust, verifyTrusted },
  }
}

async function requireIssuer(
  setting: 'oidc-issuer' | 'oidc-trust',
  issuer: string,
  ask: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const said = setting === 'oidc-issuer' ? 'is' : 'names the issuer'
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof IssuerUnavailable))
      throw new ConfigError([`${setting} ${said} ${issuer}, which cannot be used: ${reasonOf(error)}`])
    onFailure(error)
  }
}
