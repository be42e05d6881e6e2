// API keys and owners.

import {
  ApiKey,
  ApiKeyPage,
  ApiKeyParams,
  ApiKeyQuery,
  CreatedApiKey,
  NewApiKey,
  NewOwner,
  Owner,
  OwnerPage,
  PageQuery,
} from '@jobcast/contract'
import {
  createApiKey,
  createOwner,
  type KeyDeps,
  listApiKeys,
  readOwnKey,
  revokeApiKey,
} from '../../domain/api-key.ts'
import type { QuotaDeps } from '../../domain/within-quota.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { numberSlice, textSlice, toPage } from '../cursor.ts'
import { noContent } from '../openapi.ts'
import { toApiKey, toOwner } from '../to-wire.ts'

export function addKeys(app: App, deps: KeyDeps & QuotaDeps): void {
  app.route({
    method: 'POST',
    url: '/job/api/keys',
    config: { scopes: ['MANAGE', 'ADMIN'], refusals: ['J-806', 'J-912'] },
    schema: {
      operationId: 'createKey',
      tags: ['keys'],
      summary: 'Create an API key',
      description: 'A key can only grant scopes it holds. Creating a key for another owner needs ADMIN.',
      body: NewApiKey,
      response: {
        201: CreatedApiKey,
      },
    },
    handler: async (request, reply) => {
      const { key, apiKey } = await createApiKey(deps, callerOf(request), request.body)
      return reply.code(201).send({ ...toApiKey(key), apiKey })
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
      return toPage(await listApiKeys(deps, callerOf(request), ownerId, textSlice(request.query)), toApiKey)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/keys/self',
    schema: {
      operationId: 'getOwnKey',
      tags: ['keys'],
      summary: 'Get the key of this call',
      description: 'Works with any valid key, whatever its scopes.',
      response: { 200: ApiKey },
    },
    handler: async (request) => toApiKey(await readOwnKey(deps, callerOf(request))),
  })

  app.route({
    method: 'DELETE',
    url: '/job/api/keys/:keyId',
    config: { scopes: ['MANAGE', 'ADMIN'], refusals: ['J-805'] },
    schema: {
      operationId: 'revokeKey',
      tags: ['keys'],
      summary: 'Revoke an API key',
      description: 'Takes effect with the next request. Only an ADMIN key can revoke an ADMIN key.',
      params: ApiKeyParams,
      response: {
        204: noContent('Revoked'),
      },
    },
    handler: async (request, reply) => {
      await revokeApiKey(deps, callerOf(request), request.params.keyId)
      return reply.code(204).send(undefined)
    },
  })
}

/** A column of four bytes on PostgreSQL. */
const maxOwnerNo = 2 ** 31 - 1

export function addOwners(app: App, deps: KeyDeps): void {
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
      reply.code(201).send(toOwner(await createOwner(deps, request.body.ownerName))),
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
