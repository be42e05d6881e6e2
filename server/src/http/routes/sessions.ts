// Sessions of browsers, for callers that manage keys.

import { SessionPage, SessionParams, SessionQuery } from '@jobcast/contract'
import { endSession, listSessions, type SessionDeps } from '../../domain/access/session.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { toSession } from '../wire/to-wire.ts'

export function addSessions(app: App, deps: SessionDeps): void {
  app.route({
    method: 'GET',
    url: '/job/api/sessions',
    config: { scopes: ['MANAGE', 'ADMIN'], refusals: ['J-806'] },
    schema: {
      operationId: 'listSessions',
      tags: ['session'],
      summary: 'List the sessions of an owner that are still valid',
      description: 'Sessions of another owner need ADMIN.',
      querystring: SessionQuery,
      response: { 200: SessionPage },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const sessions = await listSessions(deps, caller, request.query.ownerId, textSlice(request.query))
      return toPage(sessions, (session) => toSession(session, caller.sessionId))
    },
  })

  app.route({
    method: 'DELETE',
    url: '/job/api/sessions/:sessionId',
    config: { scopes: ['MANAGE', 'ADMIN'], refusals: ['J-811'] },
    schema: {
      operationId: 'endSession',
      tags: ['session'],
      summary: 'End a session',
      description:
        'Takes effect with the next request. Sessions and tickets that were created from it end too. Only an ADMIN key ' +
        'can end a session of an ADMIN key.',
      params: SessionParams,
      response: { 204: noContent('Ended') },
    },
    handler: async (request, reply) => {
      await endSession(deps, callerOf(request), request.params.sessionId)
      return reply.code(204).send(undefined)
    },
  })
}
