// People sign in to their assistants at the issuer (RFC 9728), which then send its access token to /mcp. A token represents a
// session, which is created once for all requests with it, and cached: on another node, the token gets another session.

import { createHash } from 'node:crypto'
import { ApiError } from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../domain/access/caller.ts'
import type { ExchangeDeps, People } from '../../domain/access/exchange-token.ts'
import { type IdentifySessionDeps, identifySession } from '../../domain/access/session.ts'
import { signInAssistant } from '../../domain/access/sign-in-assistant.ts'
import { userAgentOf } from './user-agent.ts'

export const mcpUrl = '/mcp'
export const resourceMetadataUrl = '/.well-known/oauth-protected-resource'

/** Sessions last 15 minutes, so this is far more than there are people. */
const maxKept = 10_000
/** No older token is accepted. */
const oldestTokenMs = 60 * 60_000
const maxOwnerLength = 128

type AssistantDeps = ExchangeDeps & IdentifySessionDeps & { publicUrl: string | undefined }

type Kept = {
  session: Promise<{ session: string; expiresAt: number }>
  until: number
  /** At which owner the person signed in; undefined until that is known. */
  ownerId: string | undefined
  /** The session was ended, and the token does not get another one. */
  isEnded: boolean
}

export class AssistantSessions {
  readonly #deps: AssistantDeps
  readonly #people: People
  readonly #kept = new Map<string, Kept>()
  /** When sessions were ended, by token and owner: an owner has several names (`?owner=`). */
  readonly #ended = new Map<string, number>()

  constructor(deps: AssistantDeps, people: People) {
    this.#deps = deps
    this.#people = people
  }

  /** The address for which the issuer must have issued the token. */
  get resource(): string {
    return `${this.#deps.publicUrl}${mcpUrl}`
  }

  get metadata() {
    const { issuerUrl, scopes } = this.#people
    return {
      resource: this.resource,
      authorization_servers: [issuerUrl],
      scopes_supported: scopes.split(' '),
      bearer_methods_supported: ['header'],
      resource_name: 'Jobcast',
    }
  }

  /** J-815, with where to sign in. */
  challenge(isTokenInvalid: boolean): ApiError {
    const parts = [
      ...(isTokenInvalid ? ['error="invalid_token"'] : []),
      `resource_metadata="${this.#deps.publicUrl}${resourceMetadataUrl}${mcpUrl}"`,
      `scope="${this.#people.scopes}"`,
    ]
    return new ApiError('J-815', { challenge: `Bearer ${parts.join(', ')}` })
  }

  async identify(request: FastifyRequest, token: string, admit: (caller: Caller) => void): Promise<Caller> {
    const kept = this.#keptFor(request, token, admit)
    try {
      const { session } = await kept.session
      return await identifySession(this.#deps, session, this.#deps.now(), request.ip, 'exchange')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'J-808') this.#end(kept, token)
      throw error.code === 'J-808' || error.code === 'J-815' ? this.challenge(true) : error
    }
  }

  /** The session for calls of the API by this assistant. */
  async sessionOf(request: FastifyRequest, token: string): Promise<string | undefined> {
    return (await this.#kept.get(keyOf(request, token))?.session)?.session
  }

  #keptFor(request: FastifyRequest, token: string, admit: (caller: Caller) => void): Kept {
    const key = keyOf(request, token)
    const now = this.#deps.now()
    const before = this.#kept.get(key)
    if (before !== undefined && (before.isEnded || now < before.until)) return before
    const kept: Kept = {
      session: this.#signIn(request, token, (caller) => {
        kept.ownerId = caller.ownerId
        if (this.#ended.has(endedKeyOf(token, caller.ownerId))) throw new ApiError('J-808')
        admit(caller)
      }),
      until: Number.POSITIVE_INFINITY,
      ownerId: undefined,
      isEnded: false,
    }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    kept.session.then(
      ({ expiresAt }) => {
        kept.until = expiresAt
      },
      () => this.#kept.delete(key),
    )
    this.#purge(now)
    return kept
  }

  #signIn(request: FastifyRequest, token: string, admit: (caller: Caller) => void) {
    const client = { address: request.ip, requestId: request.id, userAgent: userAgentOf(request) ?? null }
    const by = { token, audience: this.resource, owner: ownerOf(request), client }
    return signInAssistant(this.#deps, this.#people, by, admit)
  }

  #end(kept: Kept, token: string): void {
    kept.isEnded = true
    if (kept.ownerId !== undefined) this.#ended.set(endedKeyOf(token, kept.ownerId), this.#deps.now())
  }

  #purge(now: number): void {
    for (const [key, at] of this.#ended) {
      if (at + oldestTokenMs > now && this.#ended.size <= maxKept) break
      this.#ended.delete(key)
    }
    for (const [key, { until }] of this.#kept) {
      const isPast = until + oldestTokenMs <= now
      if (!isPast && this.#kept.size <= maxKept) return
      this.#kept.delete(key)
    }
  }
}

/** A token of an issuer, which is not one of our keys. */
export function accessTokenOf({ headers, route }: FastifyRequest): string | undefined {
  if (route.url !== mcpUrl || headers['x-api-key'] !== undefined) return undefined
  return /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** `?owner=` of the address configured in the assistant. */
function ownerOf({ query }: FastifyRequest): string | undefined {
  const { owner } = query as { owner?: unknown }
  return typeof owner === 'string' ? owner.slice(0, maxOwnerLength) : undefined
}

function keyOf(request: FastifyRequest, token: string): string {
  return hashOf(`${ownerOf(request) ?? ''}\n${token}`)
}

function endedKeyOf(token: string, ownerId: string): string {
  return hashOf(`${ownerId}\n${token}`)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
