// API keys and owners.

import {
  ApiKeyPage,
  ApiKeyParams,
  ApiKeyQuery,
  CreatedApiKey,
  NewApiKey,
  NewOwner,
  Owner,
  OwnerPage,
  OwnKey,
  PageQuery,
  RevokedKeys,
  RevokeKeyQuery,
} from '@jobcast/contract'
import {
  type ChangeKeyDeps,
  createApiKey,
  createOwner,
  listApiKeys,
  readOwnKey,
  revokeApiKey,
} from '../../domain/access/api-key.ts'
import { readKeyNames } from '../../domain/access/key-names.ts'
import type { StoredApiKey } from '../../domain/access/ports/api-keys.ts'
import type { QuotaDeps } from '../../domain/access/within-quota.ts'
import type { KeyUse } from '../../state/key-use.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { numberSlice, textSlice, toPage } from '../wire/cursor.ts'
import { toApiKey, toOwner, toOwnKey, toRevokedKeys } from '../wire/to-wire.ts'

export function addKeys(app: App, deps: ChangeKeyDeps & QuotaDeps & { keyUse: KeyUse }): void {
  /** Expects keys of one owner. */
  const viewOf = async (keys: StoredApiKey[]) => {
    const makers = keys.map(({ createdBy }) => createdBy)
    const keyNames = await readKeyNames(deps.store, keys[0]?.ownerNo ?? 0, deps.now(), makers)
    return (key: StoredApiKey) => toApiKey({ ...key, lastUsedAt: deps.keyUse.lastUsedAt(key) }, keyNames)
  }

  app.route({
    method: 'POST',
    url: '/job/api/keys',
    config: { scopes: ['MANAGE', 'ADMIN'], refusals: ['J-806', 'J-912'] },
    schema: {
      operationId: 'createKey',
      tags: ['keys'],
      summary: 'Create an API key',
      description:
        'A key can only grant scopes it holds, and expires no later than the key that creates it. ' +
        'Creating a key for another owner needs ADMIN.',
      body: NewApiKey,
      response: {
        201: CreatedApiKey,
      },
    },
    handler: async (request, reply) => {
      const { key, apiKey } = await createApiKey(deps, callerOf(request), request.body)
      const shown = await viewOf([key])
      return reply.code(201).send({ ...shown(key), apiKey })
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/keys',
    config: { scopes: ['READ', 'MANAGE', 'ADMIN'], refusals: ['J-806'] },
    schema: {
      operationId: 'listKeys',
      tags: ['keys'],
      summary: 'List API keys, including revoked and expired ones',
      querystring: ApiKeyQuery,
      response: {
        200: ApiKeyPage,
      },
    },
    handler: async (request) => {
      const { ownerId } = request.query
      const page = await listApiKeys(deps, callerOf(request), ownerId, textSlice(request.query))
      return toPage(page, await viewOf(page.items))
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/keys/self',
    schema: {
      operationId: 'getOwnKey',
      tags: ['keys'],
      summary: 'Get the key of this call, and the person who acts by it',
      description: 'Works with any valid key or session, whatever its scopes.',
      response: { 200: OwnKey },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const key = await readOwnKey(deps, caller)
      const { sessionId = '' } = caller
      const shown = await viewOf([key])
      const session = sessionId === '' ? undefined : await deps.store.findSession({ sessionId })
      return toOwnKey(
        shown(key),
        await deps.store.findOwner({ ownerId: key.ownerId }),
        session?.person ?? null,
      )
    },
  })

  app.route({
    method: 'DELETE',
    url: '/job/api/keys/:keyId',
    config: { scopes: ['MANAGE', 'ADMIN'], refusals: ['J-805', 'J-812'] },
    schema: {
      operationId: 'revokeKey',
      tags: ['keys'],
      summary: 'Revoke an API key',
      description:
        'Takes effect with the next request; sessions of the key end with it. Only an ADMIN key can revoke an ADMIN key, ' +
        'and the last valid ADMIN key cannot be revoked. Keys that it has created remain valid, and `createdBy` names ' +
        'it; so do its schedules and its runs with `startAt`. `descendants=true` revokes the keys too, and pauses the schedules ' +
        'that all of them have put and their runs that have not started; the response lists these.',
      params: ApiKeyParams,
      querystring: RevokeKeyQuery,
      response: {
        200: { ...RevokedKeys, description: 'Revoked, with `descendants=true`' },
        204: noContent('Revoked'),
      },
    },
    handler: async (request, reply) => {
      const { descendants: withDescendants = false } = request.query
      const { keyId } = request.params
      const revoked = await revokeApiKey(deps, callerOf(request), keyId, { withDescendants })
      if (!withDescendants) return reply.code(204).send(undefined)
      return reply.code(200).send(toRevokedKeys(revoked))
    },
  })
}

/** The limit of the column, which has four bytes on PostgreSQL. */
const maxOwnerNo = 2 ** 31 - 1

export function addOwners(app: App, deps: ChangeKeyDeps): void {
  app.route({
    method: 'POST',
    url: '/job/api/owners',
    config: { scopes: ['ADMIN'], refusals: ['J-807'] },
    schema: {
      operationId: 'createOwner',
      tags: ['keys'],
      summary: 'Create an owner',
      body: NewOwner,
      response: {
        201: Owner,
      },
    },
    handler: async (request, reply) =>
      reply.code(201).send(toOwner(await createOwner(deps, callerOf(request), request.body.ownerName))),
  })

  app.route({
    method: 'GET',
    url: '/job/api/owners',
    config: { scopes: ['ADMIN'] },
    schema: {
      operationId: 'listOwners',
      tags: ['keys'],
      summary: 'List owners',
      querystring: PageQuery,
      response: { 200: OwnerPage },
    },
    handler: async (request) =>
      toPage(await deps.store.listOwners(numberSlice(request.query, maxOwnerNo)), toOwner),
  })
}
