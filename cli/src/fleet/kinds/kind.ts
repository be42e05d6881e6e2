// A kind of resources in a fleet file: its names, schemas and calls.

import type { AllResourceCalls, Jobcast, ResourceName } from '@jobcast/client'
import type { ContentOf, Resource } from '@jobcast/contract'
import type { TObject, TString } from 'typebox'

/** JSON values. */
export type Fields = Record<string, unknown>

export type Kind = {
  /** Field in files: `jobs`. */
  field: string
  /** Singular, for messages: `job`. */
  noun: string
  /** Field of the name in a list: `jobName`. */
  nameField: string
  nameSchema: TString
  contentSchema: TObject
  /** What the schemas accept but the server rejects. */
  refusal(name: string, content: Fields): string | undefined
  /** The content as the server returns it, with defaults filled in. */
  filled(name: string, content: Fields): Fields
  /** What of it a key without MANAGE is shown, if not all. */
  shownToReaders?(fields: Fields): Fields
  /** Names of its kind that must be there before it. */
  needs?(content: Fields): string[]
  list(client: Jobcast): AsyncIterable<object>
  get(client: Jobcast, name: string): Promise<object>
  /** Returns a secret that the server has generated and shows only once. */
  put(
    client: Jobcast,
    name: string,
    content: Fields,
    isNew: boolean,
    env: NodeJS.ProcessEnv,
  ): Promise<string | undefined>
  remove(client: Jobcast, name: string): Promise<void>
}

/** What a resource has besides its description. */
type Rules<R extends Resource> = Pick<Kind, 'refusal'> &
  Partial<Pick<Kind, 'shownToReaders' | 'needs' | 'put'>> & {
    /** Every field that can be put, except one that is never shown. */
    filled(name: string, content: Fields): Record<Exclude<keyof ContentOf<R>, ShownOnce<R>>, unknown>
  }
type ShownOnce<R extends Resource> = R extends { shownOnce: infer Field } | { neverShown: infer Field }
  ? Field
  : never

export function kindOf<R extends Resource>(described: R, rules: Rules<R>): Kind {
  const { name, noun, key, params, content }: Resource = described
  const calls = (client: AllResourceCalls): AnyCalls => client[name as ResourceName]
  return {
    field: name,
    noun,
    nameField: key,
    nameSchema: params.properties[key] as TString,
    contentSchema: content,
    list: (client) => calls(client).list({ limit: 200 }),
    get: (client, each) => calls(client).get(each),
    async put(client, each, given) {
      await calls(client).put(each, given as never)
      return undefined
    },
    remove: (client, each) => calls(client).delete(each),
    ...rules,
  }
}

type AnyCalls = {
  delete(name: string): Promise<void>
  list(query: { limit: number }): AsyncIterable<object>
  get(name: string): Promise<object>
  /** Content that the schema of the kind has accepted. */
  put(name: string, content: never): Promise<object>
}

/** For fields whose order has no meaning. */
export function sorted(texts: unknown): string[] {
  return (texts as readonly string[]).toSorted()
}
