// Put, get, list and delete: the same for every resource.

import { List, type PageQuery, type Query } from './list.ts'
import { path } from './path.ts'
import { type ResourceName, type ResourceTypes, resources } from './resources.ts'
import type { Call, CallOptions, Transport } from './transport.ts'

/** `created` is false if it was replaced. */
export type Put<T> = { created: boolean; value: T }

/** `ifNew`: only if it does not exist yet; otherwise J-312. The call is then not retried after a lost response. */
export type PutOptions = CallOptions & { ifNew?: boolean | undefined }

type Types<Name extends ResourceName> = ResourceTypes[Name]
type View<Name extends ResourceName> = Types<Name>['view']
type Created<Name extends ResourceName> = Types<Name>['created']
/** The result for a new resource may have a secret that is shown only once. */
export type PutResult<Name extends ResourceName> =
  View<Name> extends Created<Name>
    ? Put<View<Name>>
    : { created: true; value: Created<Name> } | { created: false; value: View<Name> }
type Content<Name extends ResourceName> = Types<Name>['content']
/** Content may be omitted if all fields have defaults. */
type PutArguments<Name extends ResourceName, Options> =
  Record<never, never> extends Content<Name>
    ? [content?: Content<Name>, options?: Options]
    : [content: Content<Name>, options?: Options]

export type ResourceCalls<Name extends ResourceName, Options extends CallOptions = CallOptions> = {
  /**
   * Creates or replaces it: omitted fields are reset to their defaults. If a generated secret would be lost with the response,
   * the call is not retried.
   */
  put(name: string, ...given: PutArguments<Name, Options & PutOptions>): Promise<PutResult<Name>>
  get(name: string, options?: CallOptions): Promise<View<Name>>
  list(query?: Query<Types<Name>['query']>, options?: CallOptions): List<View<Name>>
  delete(name: string, options?: Options): Promise<void>
}

/** The calls of all resources. */
export type AllResourceCalls = { readonly [Name in ResourceName]: ResourceCalls<Name> }

export type Secrets = ResourceCalls<'secrets'>

/** `toHeaders`: converts options that only this resource has. */
export function resourceCalls<Name extends ResourceName, Options extends CallOptions = CallOptions>(
  transport: Transport,
  name: Name,
  toHeaders: (options: Options) => Record<string, string> = () => ({}),
): ResourceCalls<Name, Options> {
  const { shownOnce } = resources[name]
  const list = `/job/api/${name}`
  const one = (each: string) => `${list}${path`/${each}`}`
  return {
    async put(each, ...[content = {}, options = {} as Options & PutOptions]) {
      const given = new Map<string, unknown>(Object.entries(content))
      const { status, value } = await transport.answer<Created<Name>>({
        method: 'PUT',
        path: one(each),
        body: content,
        headers: { ...toHeaders(options), ...(options.ifNew && { 'if-none-match': '*' }) },
        safe: !options.ifNew && (shownOnce === undefined || given.get(shownOnce) !== undefined),
        signal: options.signal,
      })
      return { created: status === 201, value } as PutResult<Name>
    },
    get: (each, { signal } = {}) => transport.value({ method: 'GET', path: one(each), signal }),
    list: (query = {}, options = {}) => new List(transport, list, query as PageQuery, options),
    delete: (each, options = {} as Options) =>
      remove(transport, { path: one(each), headers: toHeaders(options), signal: options.signal }),
  }
}

/** If a retry after a lost answer finds nothing, the first request was successful. */
export async function remove(transport: Transport, call: Omit<Call, 'method'>): Promise<void> {
  await transport.answer({
    ...call,
    method: 'DELETE',
    wasServedBefore: ({ status, code }) => status === 404 && code !== 'J-901',
  })
}
