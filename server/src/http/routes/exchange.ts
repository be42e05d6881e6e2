// Exchanges a token of an issuer for access without a key: CI jobs, and people on the command line.

import { accessTokenType, ExchangedToken, TokenExchange } from '@jobcast/contract'
import { type ExchangeDeps, exchangeToken } from '../../domain/access/exchange-token.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { limitFailedSignIns, limitSessions } from '../access/authenticate.ts'
import { refuseOtherOrigin } from '../access/same-origin.ts'
import { userAgentOf } from '../access/user-agent.ts'
import type { App } from '../app-type.ts'
import { formType } from '../wire/form-body.ts'

/** Two tokens, percent-encoded. */
const maxExchangeBytes = 128 * 1024

export function addExchange(app: App, deps: ExchangeDeps & { limits: RateLimits }): void {
  app.route({
    method: 'POST',
    url: '/job/api/session/exchange',
    config: { isOpen: true, takesForm: true, refusals: ['J-802', 'J-809', 'J-813', 'J-912'] },
    bodyLimit: maxExchangeBytes,
    onRequest: async (request) => refuseOtherOrigin(request),
    schema: {
      operationId: 'exchangeToken',
      tags: ['session'],
      summary: 'Exchange a token of an issuer for access for 15 minutes (RFC 8693)',
      description:
        'For tokens that match a rule of `oidc-trust`, such as those of CI jobs, and for ID tokens of people from ' +
        '`oidc-issuer`. Whatever does not match is J-802.',
      security: [],
      consumes: [formType],
      body: TokenExchange,
      response: { 200: ExchangedToken },
    },
    handler: async (request) => {
      const { subject_token: token, access_token: accessToken, audience: owner } = request.body
      const client = { address: request.ip, requestId: request.id, userAgent: userAgentOf(request) ?? null }
      const { session, expiresAt } = await exchangeToken(
        deps,
        { token, accessToken, owner, client },
        (caller) => limitSessions(deps.limits, request, caller),
      ).catch((error) => {
        throw limitFailedSignIns(deps.limits, request, error)
      })
      return {
        access_token: session,
        issued_token_type: accessTokenType as typeof accessTokenType,
        token_type: 'N_A' as const,
        expires_in: Math.ceil((expiresAt - deps.now()) / 1000),
      }
    },
  })
}
