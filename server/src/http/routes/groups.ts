// Groups: named selectors.

import { Group, GroupContent, GroupPage, GroupParams, PageQuery } from '@jobcast/contract'
import { deleteGroup, getGroup, putGroup, type SelectorDeps } from '../../domain/selector/selector.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { toGroup } from '../wire/to-wire.ts'

const url = '/job/api/groups/:groupName'

export function addGroups(app: App, deps: SelectorDeps): void {
  app.route({
    method: 'PUT',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-309', 'J-503', 'J-912'] },
    schema: {
      operationId: 'putGroup',
      tags: ['groups'],
      summary: 'Create or replace a group',
      description:
        'A group is a named selector, which other selectors use as `group=name`. Groups may refer to other groups, but ' +
        'not to themselves, directly or indirectly.',
      params: GroupParams,
      body: GroupContent,
      response: {
        200: { ...Group, description: 'Replaced' },
        201: { ...Group, description: 'Created' },
      },
    },
    handler: async (request, reply) => {
      const { groupName } = request.params
      const { created, value } = await putGroup(deps, callerOf(request), groupName, request.body)
      return reply.code(created ? 201 : 200).send(toGroup(value))
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-309'] },
    schema: {
      operationId: 'getGroup',
      tags: ['groups'],
      summary: 'Get a group',
      params: GroupParams,
      response: { 200: Group },
    },
    handler: async (request) => toGroup(await getGroup(deps, callerOf(request), request.params.groupName)),
  })

  app.route({
    method: 'DELETE',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-309'] },
    schema: {
      operationId: 'deleteGroup',
      tags: ['groups'],
      summary: 'Delete a group',
      description: 'Selectors that refer to it are rejected from then on (J-309).',
      params: GroupParams,
      response: { 204: noContent('Deleted') },
    },
    handler: async (request, reply) => {
      await deleteGroup(deps, callerOf(request), request.params.groupName)
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/groups',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listGroups',
      tags: ['groups'],
      summary: 'List groups, ordered by name',
      querystring: PageQuery,
      response: { 200: GroupPage },
    },
    handler: async (request) => {
      const { ownerNo } = callerOf(request)
      return toPage(await deps.store.listGroups({ ownerNo, slice: textSlice(request.query) }), toGroup)
    },
  })
}
