// Signs in an assistant of a person with the access token that it got from the issuer for our MCP endpoint. Like an exchanged
// token, it represents a session of 15 minutes. The token must have been issued for this endpoint, so that other services cannot
// pass on the tokens that they have received.

import { ApiError } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import { type ExchangeDeps, type People, signInByClaims } from './exchange-token.ts'
import { IssuerUnavailable, reasonOf, SignInRefused } from './issuer-errors.ts'
import type { SigningIn } from './session.ts'

type AssistantSignIn = {
  token: string
  audience: string
  /** Name or id, if several owners are possible. */
  owner: string | undefined
  client: SigningIn
}

/** Throws J-815 if another token may help, J-802 if the person has no role. */
export async function signInAssistant(
  deps: ExchangeDeps,
  people: People,
  { token, audience, owner, client }: AssistantSignIn,
  admit: (caller: Caller) => void,
): Promise<{ session: string; expiresAt: number }> {
  const claims = await refusing(deps, 'J-815', () => people.issuer.verifyAccess(token, audience))
  const until = typeof claims.exp === 'number' ? claims.exp * 1000 : undefined
  return refusing(deps, 'J-802', () => signInByClaims(deps, people, { claims, owner, client, until }, admit))
}

async function refusing<T>(
  { onExchangeRefused }: ExchangeDeps,
  code: 'J-802' | 'J-815',
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const isAway = error instanceof IssuerUnavailable
    if (!isAway && !(error instanceof SignInRefused)) throw error
    onExchangeRefused(reasonOf(error))
    throw new ApiError(isAway ? 'J-813' : code)
  }
}
