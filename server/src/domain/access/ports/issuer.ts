// The OpenID Connect issuer for people, and the issuers whose tokens are exchanged.

import type { Claims } from '../claims.ts'
import type { IssuerTokens } from '../seal-tokens.ts'

/** What a browser stores between the start of a sign-in and its return from the issuer. */
export type SignInChecks = { state: string; nonce: string; codeVerifier: string }

export type SignedIn = { claims: Claims; tokens: IssuerTokens }

export type Issuer = {
  /** Where to redirect the browser. `again`: the issuer must ask the person to sign in again. Throws IssuerUnavailable. */
  begin(how: { again: boolean }): Promise<{ url: string; checks: SignInChecks }>
  /** `query`: of the address that the issuer redirected to. Throws IssuerUnavailable or SignInRefused. */
  finish(query: string, checks: SignInChecks): Promise<SignedIn>
  /** Throws IssuerUnavailable, or SignInRefused if the person no longer has a session at the issuer. */
  refresh(refreshToken: string, subject: string): Promise<SignedIn>
  /** Where the browser signs out at the issuer; null if the issuer has no such page. Revokes the refresh token. */
  signOut(tokens: IssuerTokens): Promise<string | null>
  /**
   * The claims of an ID token that was just issued to us, and of /userinfo. Throws IssuerUnavailable or SignInRefused.
   */
  verify(idToken: string, accessToken: string | undefined): Promise<Claims>
  /**
   * The claims of an access token that was issued for this audience, and of /userinfo. Throws IssuerUnavailable or
   * SignInRefused.
   */
  verifyAccess(accessToken: string, audience: string): Promise<Claims>
}

/** Verifies a token of any of the issuers in `oidc-trust`. Throws IssuerUnavailable or SignInRefused. */
export type VerifyTrusted = (
  token: string,
  expected: {
    issuer: string
    audience: string
    /** Maximum age since it was issued. By default only its expiry counts. */
    maxAgeSeconds?: number
  },
) => Promise<Claims>
