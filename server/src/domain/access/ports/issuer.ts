// The issuer that people sign in at (OpenID Connect), and issuers whose tokens are exchanged.

import type { Claims } from '../claims.ts'
import type { IssuerTokens } from '../seal-tokens.ts'

/** What a browser keeps between the start of a sign-in and its return from the issuer. */
export type SignInChecks = { state: string; nonce: string; codeVerifier: string }

export type SignedIn = { claims: Claims; tokens: IssuerTokens }

export type Issuer = {
  /** Where the browser is sent to. `again`: the issuer is to ask who it is. Throws IssuerUnavailable. */
  begin(how: { again: boolean }): Promise<{ url: string; checks: SignInChecks }>
  /** `query`: of the address that the issuer sent the browser back to. Throws IssuerUnavailable or SignInRefused. */
  finish(query: string, checks: SignInChecks): Promise<SignedIn>
  /** Throws IssuerUnavailable or SignInRefused, when the person has no session at the issuer any more. */
  refresh(refreshToken: string, subject: string): Promise<SignedIn>
  /** Where the browser signs out at the issuer; null if the issuer has no such page. Revokes the refresh token. */
  signOut(tokens: IssuerTokens): Promise<string | null>
  /**
   * The claims of an ID token that was issued to us just now, and those of /userinfo. Throws IssuerUnavailable or
   * SignInRefused.
   */
  verify(idToken: string, accessToken: string | undefined): Promise<Claims>
}

/** Verifies a token of any of the issuers in `oidc-trust`. Throws IssuerUnavailable or SignInRefused. */
export type VerifyTrusted = (
  token: string,
  expected: {
    issuer: string
    audience: string
    /** Since it was issued. Default: as long as it has not expired. */
    maxAgeSeconds?: number
  },
) => Promise<Claims>
