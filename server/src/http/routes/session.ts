// Sign-in and sign-out for browsers.

import { OwnKey, SignIn, SignInTicket, TicketFacts, TicketQuestion, toInstant } from '@jobcast/contract'
import { readKeyNames } from '../../domain/access/key-names.ts'
import { issueTicket, readTicket, type SessionDeps, signIn, signOut } from '../../domain/access/session.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { callerOf, limitFailedSignIns, limitSessions } from '../access/authenticate.ts'
import { refuseOtherOrigin } from '../access/same-origin.ts'
import { sessionCookieHeader, sessionOf } from '../access/session-cookie.ts'
import { userAgentOf } from '../access/user-agent.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { toApiKey, toOwnKey } from '../wire/to-wire.ts'

/** Far more than a key or a ticket needs; the sender is not authenticated yet. */
const maxSignInBytes = 4096

export function addSession(
  app: App,
  deps: SessionDeps & { limits: RateLimits; publicUrl: string | undefined },
): void {
  app.route({
    method: 'POST',
    url: '/job/api/session',
    config: { isOpen: true, refusals: ['J-802', 'J-803', 'J-808', 'J-809', 'J-912'] },
    bodyLimit: maxSignInBytes,
    onRequest: async (request) => refuseOtherOrigin(request),
    schema: {
      operationId: 'signIn',
      tags: ['session'],
      summary: 'Exchange an API key or a ticket for a session',
      description:
        'The session is an HttpOnly cookie. It ends after 12 hours, when it is not used for `session-idle-timeout`, at ' +
        'sign-out, when its key is revoked or expires, and with the session that the ticket came from.',
      security: [],
      body: SignIn,
      response: {
        201: {
          ...OwnKey,
          headers: {
            'set-cookie': {
              type: 'string',
              description: 'jobcast_session=…; over TLS __Host-jobcast_session=…',
            },
          },
        },
      },
    },
    handler: async (request, reply) => {
      const { apiKey, ticket } = request.body
      const by = { ...(apiKey !== undefined && { apiKey }), ...(ticket !== undefined && { ticket }) }
      const client = { address: request.ip, requestId: request.id, userAgent: userAgentOf(request) ?? null }
      const { session, expiresAt, key } = await signIn(deps, by, client, (caller) =>
        limitSessions(deps.limits, request, caller),
      ).catch((error) => {
        throw limitFailedSignIns(deps.limits, request, error)
      })
      const seconds = Math.ceil((expiresAt - deps.now()) / 1000)
      const cookie = sessionCookieHeader(request, session, seconds, deps.publicUrl)
      const owner = await deps.store.findOwner({ ownerId: key.ownerId })
      const keyNames = await readKeyNames(deps.store, key.ownerNo, deps.now(), [key.createdBy])
      return reply
        .code(201)
        .header('set-cookie', cookie)
        .send(toOwnKey(toApiKey(key, keyNames), owner, null))
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
      description: 'Succeeds even if the session has already ended. The cookie is deleted.',
      security: [],
      response: { 204: noContent('Signed out') },
    },
    handler: async (request, reply) => {
      const session = sessionOf(request, deps.publicUrl)
      if (session !== undefined) await signOut(deps, session, { address: request.ip, requestId: request.id })
      return reply
        .code(204)
        .header('set-cookie', sessionCookieHeader(request, '', 0, deps.publicUrl))
        .send(undefined)
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/session/tickets',
    config: { refusals: ['J-912'] },
    schema: {
      operationId: 'createSignInTicket',
      tags: ['session'],
      summary: 'Create a ticket that signs in once, as the key of this call',
      description:
        'Valid for ten minutes. Neither the ticket nor the session that it creates outlives the session or key of this call. ' +
        '`/sign-in#ticket=…` is a sign-in link: browsers do not send the part after the #, so it is in no log.',
      response: { 201: SignInTicket },
    },
    handler: async (request, reply) => {
      limitSessions(deps.limits, request, callerOf(request))
      const { ticket, expiresAt } = await issueTicket(deps, callerOf(request))
      return reply.code(201).send({ ticket, expiresAt: toInstant(expiresAt) })
    },
  })

  app.route({
    method: 'POST',
    url: '/job/api/session/tickets/check',
    config: { isOpen: true, refusals: ['J-802', 'J-803', 'J-808', 'J-809'] },
    bodyLimit: maxSignInBytes,
    onRequest: async (request) => refuseOtherOrigin(request),
    schema: {
      operationId: 'checkSignInTicket',
      tags: ['session'],
      summary: 'Show the key that a ticket signs in with',
      description:
        'The ticket remains valid. A page can ask before a ticket replaces the session of its browser.',
      security: [],
      body: TicketQuestion,
      response: { 200: TicketFacts },
    },
    handler: async (request) => {
      const { ticket, key, ownerName } = await readTicket(deps, request.body.ticket, request.ip).catch(
        (error) => {
          throw limitFailedSignIns(deps.limits, request, error)
        },
      )
      const { keyId, keyName, ownerId } = key
      return { keyId, keyName, ownerId, ownerName, expiresAt: toInstant(ticket.expiresAt) }
    },
  })
}
