// Signing in and out, for browsers.

import { ApiKey, SignIn, SignInTicket, toInstant } from '@jobcast/contract'
import { issueTicket, type SessionDeps, sessionMs, signIn, signOut } from '../../domain/session.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { noContent } from '../openapi.ts'
import { refuseOtherOrigin } from '../same-origin.ts'
import { sessionOf, spellCookie } from '../session-cookie.ts'
import { toApiKey } from '../to-wire.ts'

export function addSession(app: App, deps: SessionDeps): void {
  app.route({
    method: 'POST',
    url: '/job/api/session',
    config: { isOpen: true, refusals: ['J-802', 'J-803', 'J-808', 'J-809'] },
    onRequest: async (request) => refuseOtherOrigin(request),
    schema: {
      operationId: 'signIn',
      tags: ['session'],
      summary: 'Exchange an API key or a ticket for a session',
      description:
        'The session is a cookie that only this service sees. It ends after 12 hours, when it is signed out, or with its key.',
      security: [],
      body: SignIn,
      response: {
        201: {
          ...ApiKey,
          headers: { 'set-cookie': { type: 'string', description: 'jobcast_session=…' } },
        },
      },
    },
    handler: async (request, reply) => {
      const { apiKey, ticket } = request.body
      const { session, key } = await signIn(deps, {
        ...(apiKey !== undefined && { apiKey }),
        ...(ticket !== undefined && { ticket }),
      })
      const cookie = spellCookie(request, session, sessionMs / 1000)
      return reply.code(201).header('set-cookie', cookie).send(toApiKey(key))
    },
  })

  app.route({
    method: 'DELETE',
    url: '/job/api/session',
    config: { isOpen: true, refusals: ['J-809'] },
    onRequest: async (request) => refuseOtherOrigin(request),
    schema: {
      operationId: 'signOut',
      tags: ['session'],
      summary: 'End the session of this browser',
      description: 'Also one that has ended already: the cookie is gone afterwards.',
      security: [],
      response: { 204: noContent('Signed out') },
    },
    handler: async (request, reply) => {
      const session = sessionOf(request)
      if (session !== undefined) await signOut(deps, session)
      return reply
        .code(204)
        .header('set-cookie', spellCookie(request, '', 0))
        .send(undefined)
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/session/tickets',
    schema: {
      operationId: 'createSignInTicket',
      tags: ['session'],
      summary: 'Get a ticket that signs in once, with the key of this call',
      description:
        'Good for ten minutes. `/sign-in#ticket=…` is a link that signs in: what is behind the # reaches no server and no log.',
      response: { 201: SignInTicket },
    },
    handler: async (request, reply) => {
      const { ticket, expiresAt } = await issueTicket(deps, callerOf(request))
      return reply.code(201).send({ ticket, expiresAt: toInstant(expiresAt) })
    },
  })
}
