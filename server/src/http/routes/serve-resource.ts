// Get, list, put and delete of a resource, defined by its description. Other operations have their own routes.

import {
  type ContentOf,
  type CreatedOf,
  type DeletionOf,
  Page,
  PageQuery,
  type QueryOf,
  type Resource,
  type ViewOf,
} from '@jobcast/contract'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Caller } from '../../domain/access/caller.ts'
import { type KeyNames, type NameDeps, noNames, readKeyNames } from '../../domain/access/key-names.ts'
import type { Expectation } from '../../domain/common/entity-tag.ts'
import type { Put, Slice, Sliced } from '../../domain/common/ports/slices.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { emptyBodyAsObject } from '../wire/empty-body.ts'
import {
  etagHeader,
  expectedBefore,
  expectedTags,
  IfMatchHeaders,
  IfNoneMatchHeaders,
  quoted,
} from '../wire/if-match.ts'

/** The rules of a resource, and its wire format. Each rule throws ApiError to refuse. */
type ResourceSteps<R extends Resource, Stored> = {
  put(caller: Caller, name: string, content: ContentOf<R>, before: Expectation): Promise<Put<Stored>>
  get(caller: Caller, name: string): Promise<Stored>
  list(caller: Caller, slice: Slice<string>, query: QueryOf<R>): Promise<Sliced<Stored, string>>
  delete(caller: Caller, name: string, before: Expectation, query: DeletionOf<R>): Promise<void>
  toView(stored: Stored, caller: Caller, keyNames: KeyNames): ViewOf<R>
  /** For resources that return more on creation. */
  toCreated?(stored: Stored, caller: Caller, keyNames: KeyNames): CreatedOf<R>
  /** For resources that name who created or changed them. */
  makers?: { of(stored: Stored): string | null | (string | null)[]; deps: NameDeps }
  /** For resources with an ETag, for If-Match. */
  tagOf?(stored: Stored): string
}

export function serveResource<R extends Resource, Stored>(
  app: App,
  described: R,
  steps: ResourceSteps<R, Stored>,
): void {
  const resource: Resource = described
  const { name, noun, key, params, content, view, created = view, query = PageQuery } = resource
  const { scopes, notFound, inUse, deletion, refusals = {}, texts = {} } = resource
  const { tagOf, toView, toCreated = toView, makers } = steps
  const [list, url] = [`/job/api/${name}`, `/job/api/${name}/:${key}`]
  const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`
  const headers = tagOf ? { headers: etagHeader } : {}
  const nameIn = ({ params }: FastifyRequest) => (params as Record<string, string>)[key] as string
  const tagged = (stored: Stored) => (tagOf ? { etag: quoted(tagOf(stored)) } : {})
  const namesFor = async ({ ownerNo }: Caller, found: Stored[]): Promise<KeyNames> =>
    makers === undefined
      ? noNames
      : await readKeyNames(makers.deps.store, ownerNo, makers.deps.now(), found.flatMap(makers.of))
  const saying = (text: string | undefined) => (text === undefined ? {} : { description: text })

  app.route({
    method: 'PUT',
    url,
    config: {
      scopes: [scopes.write],
      ...(scopes.alsoPut && { alsoScope: scopes.alsoPut }),
      refusals: [...(refusals.put ?? []), 'J-312', 'J-912'],
    },
    ...(content.required === undefined && { preValidation: emptyBodyAsObject }),
    schema: {
      operationId: `put${title}`,
      tags: [name],
      summary: `Create or replace a ${noun}`,
      ...saying(texts.put),
      params,
      headers: tagOf
        ? Type.Object({ ...IfMatchHeaders.properties, ...IfNoneMatchHeaders.properties })
        : IfNoneMatchHeaders,
      body: content,
      response: {
        200: { ...view, description: 'Replaced', ...headers },
        201: { ...created, description: 'Created', ...headers },
      },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const body = request.body as ContentOf<R>
      const { created, value } = await steps.put(caller, nameIn(request), body, expectedBefore(request))
      const keyNames = await namesFor(caller, [value])
      reply.headers(tagged(value)).code(created ? 201 : 200)
      return reply.send((created ? toCreated : toView)(value, caller, keyNames))
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: [scopes.read], refusals: [notFound] },
    schema: {
      operationId: `get${title}`,
      tags: [name],
      summary: `Get a ${noun}`,
      ...saying(texts.get),
      params,
      response: { 200: { ...view, ...headers } },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const found = await steps.get(caller, nameIn(request))
      const keyNames = await namesFor(caller, [found])
      return reply.headers(tagged(found)).send(toView(found, caller, keyNames))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: {
      scopes: [scopes.write],
      refusals: [notFound, ...(inUse ? [inUse] : []), ...(tagOf ? (['J-312'] as const) : [])],
    },
    schema: {
      operationId: `delete${title}`,
      tags: [name],
      summary: `Delete ${texts.gone ?? `a ${noun}`}`,
      ...saying(texts.delete),
      params,
      ...(tagOf && { headers: IfMatchHeaders }),
      ...(deletion && { querystring: deletion }),
      response: { 204: noContent('Deleted') },
    },
    handler: async (request, reply) => {
      const before = tagOf ? expectedTags(request) : {}
      await steps.delete(callerOf(request), nameIn(request), before, request.query as DeletionOf<R>)
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'GET',
    url: list,
    config: { scopes: [scopes.read], refusals: [...(refusals.list ?? [])] },
    schema: {
      operationId: `list${title}s`,
      tags: [name],
      summary: `List ${name}, ordered by ${key === `${noun}Name` ? 'name' : key}`,
      ...saying(texts.list),
      querystring: query,
      response: { 200: Page(view) },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const asked = request.query as QueryOf<R> & PageQuery
      const page = await steps.list(caller, textSlice(asked), asked)
      const keyNames = await namesFor(caller, page.items)
      return toPage(page, (each) => toView(each, caller, keyNames))
    },
  })
}
