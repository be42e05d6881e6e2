// Sign-in of people at an OpenID Connect issuer, for browsers. Without the settings there is only /auth/config.

import { ApiError, AuthConfig } from '@jobcast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { isOverage, personOf } from '../../domain/access/claims.ts'
import type { People } from '../../domain/access/exchange-token.ts'
import { IssuerUnavailable, SignInRefused } from '../../domain/access/issuer-errors.ts'
import { grantsAtOwners, missingOwners, signInPerson } from '../../domain/access/person-session.ts'
import type { SignedIn } from '../../domain/access/ports/issuer.ts'
import { openTokens } from '../../domain/access/seal-tokens.ts'
import {
  findValid,
  type SessionDeps,
  sessionEnding,
  signOut,
  signOutByEnding,
} from '../../domain/access/session.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { limitFailedSignIns, limitSessions } from '../access/authenticate.ts'
import { encodeKept, type KeptSignIn, keptSeconds, localPath, readKept } from '../access/kept-sign-in.ts'
import { refuseOtherOrigin } from '../access/same-origin.ts'
import { sessionCookieHeader, sessionOf, signInCookieHeader } from '../access/session-cookie.ts'
import { userAgentOf } from '../access/user-agent.ts'
import type { App } from '../app-type.ts'
import {
  sendAnotherOwner,
  sendNoRole,
  sendNotAdmitted,
  sendOwners,
  sendRefused,
  sendUnavailable,
} from '../pages/sign-in-pages.ts'

export type AuthDeps = SessionDeps & {
  limits: RateLimits
  people: People | undefined
  publicUrl: string | undefined
  onIssuerFailed: (error: unknown) => void
}

const Text = Type.Optional(Type.String({ maxLength: 2000 }))
const SignInQuery = Type.Object({ returnTo: Text, owner: Text, again: Text })
const hidden = { hide: true }

export function addAuth(app: App, deps: AuthDeps): void {
  app.route({
    method: 'GET',
    url: '/auth/config',
    schema: { ...hidden, response: { 200: AuthConfig } },
    handler: async (_request, reply) => {
      const { people } = deps
      reply.header('cache-control', 'no-store')
      if (people === undefined) return { oidc: false, issuer: null, clientId: null, scopes: null }
      const { issuerUrl: issuer, clientId, scopes } = people
      return { oidc: true, issuer, clientId, scopes }
    },
  })

  app.route({
    method: 'GET',
    url: '/auth/sign-in',
    exposeHeadRoute: false,
    schema: { ...hidden, querystring: SignInQuery },
    handler: async (request, reply) => {
      const { issuer } = requirePeople(deps)
      const { returnTo, owner, again } = request.query
      reply.header('cache-control', 'no-store')
      try {
        const { url, checks } = await issuer.begin({ again: again !== undefined })
        const before = sessionEnding(sessionOf(request, deps.publicUrl) ?? '')
        const wanted = { returnTo: localPath(returnTo), owner: owner?.slice(0, 128) ?? null }
        const kept = { ...checks, ...wanted, before }
        return reply
          .header('set-cookie', signInCookieHeader(request, encodeKept(kept), keptSeconds, deps.publicUrl))
          .redirect(url, 303)
      } catch (error) {
        return answerFailure(deps, reply, error)
      }
    },
  })

  app.route({
    method: 'GET',
    url: '/auth/callback',
    exposeHeadRoute: false,
    schema: hidden,
    handler: async (request, reply) => {
      const { issuer } = requirePeople(deps)
      const kept = readKept(request, deps.publicUrl)
      // The cookie is deleted, so that the same address cannot be used for a second sign-in.
      reply
        .header('cache-control', 'no-store')
        .header('set-cookie', signInCookieHeader(request, '', 0, deps.publicUrl))
      if (kept === undefined) return sendRefused(reply)
      const { url = '' } = request.raw
      const query = url.includes('?') ? url.slice(url.indexOf('?')) : ''
      try {
        return await finishSignIn(deps, request, reply, kept, await issuer.finish(query, kept))
      } catch (error) {
        const isRefused = error instanceof SignInRefused
        return answerFailure(deps, reply, (isRefused && failureOf(deps, request)) || error)
      }
    },
  })

  app.route({
    method: 'POST',
    url: '/auth/sign-out',
    schema: hidden,
    onRequest: async (request) => refuseOtherOrigin(request),
    handler: async (request, reply) => {
      const text = sessionOf(request, deps.publicUrl)
      const signOutUrl = text === undefined ? null : await signOutEverywhere(deps, text, sentBy(request))
      reply
        .header('cache-control', 'no-store')
        .header('set-cookie', sessionCookieHeader(request, '', 0, deps.publicUrl))
      return reply.send({ signOutUrl })
    },
  })
}

/** Counts the failure like a wrong key: J-911 if the address fails too often, otherwise undefined. */
function failureOf({ limits }: AuthDeps, request: FastifyRequest): unknown {
  const refused = new ApiError('J-802')
  const failure = limitFailedSignIns(limits, request, refused)
  return failure === refused ? undefined : failure
}

function requirePeople({ people }: AuthDeps): People {
  if (people === undefined) throw new ApiError('J-901')
  return people
}

async function finishSignIn(
  deps: AuthDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { returnTo, owner: wanted, before }: KeptSignIn,
  { claims, tokens }: SignedIn,
): Promise<FastifyReply> {
  const { groupRoles, groupClaim } = requirePeople(deps)
  const person = personOf(claims, groupClaim)
  if (person === undefined) throw new SignInRefused('the issuer names no subject')
  const grants = await grantsAtOwners(deps.store, groupRoles, person)
  if (grants.length === 0) {
    const missing = await missingOwners(deps.store, groupRoles, person)
    return sendNoRole(reply, person, { groupRoles, missing, isOverage: isOverage(claims, groupClaim) })
  }
  const isWanted = ({ owner }: (typeof grants)[number]) =>
    wanted === owner.ownerName || wanted === owner.ownerId
  if (wanted === null && grants.length > 1) return sendOwners(reply, person, grants, returnTo)
  const at = wanted === null ? grants[0] : grants.find(isWanted)
  if (at === undefined) return sendAnotherOwner(reply, person, wanted ?? '', grants, returnTo)
  const client = { ...sentBy(request), userAgent: userAgentOf(request) ?? null }
  const { session, expiresAt } = await signInPerson(deps, { person, grants, at, tokens, client }, (caller) =>
    limitSessions(deps.limits, request, caller),
  )
  if (before !== null) await signOutByEnding(deps, before, sentBy(request))
  const seconds = Math.ceil((expiresAt - deps.now()) / 1000)
  return reply
    .header('set-cookie', sessionCookieHeader(request, session, seconds, deps.publicUrl))
    .redirect(returnTo, 303)
}

/** Ends our session, even if the issuer is down, and returns the address for signing out at the issuer. */
async function signOutEverywhere(
  deps: AuthDeps,
  text: string,
  from: ReturnType<typeof sentBy>,
): Promise<string | null> {
  const session = await findValid(deps.store, 'session', text, deps.now())
  if (session === undefined) return null
  await signOut(deps, text, from)
  if (deps.people === undefined || session.person === null) return null
  try {
    return await deps.people.issuer.signOut(openTokens(session.tokens, text))
  } catch (error) {
    deps.onIssuerFailed(error)
    return null
  }
}

/** For the audit. */
function sentBy({ ip: address, id: requestId }: FastifyRequest): { address: string; requestId: string } {
  return { address, requestId }
}

function answerFailure(deps: AuthDeps, reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof ApiError) return sendNotAdmitted(reply, error)
  if (!(error instanceof IssuerUnavailable) && !(error instanceof SignInRefused)) throw error
  deps.onIssuerFailed(error)
  return error instanceof IssuerUnavailable ? sendUnavailable(reply) : sendRefused(reply)
}
