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
  /** Why the server would reject content that the schemas accept. */
  refusal(name: string, content: Fields): string | undefined
  /** The content as the server returns it, with defaults filled in. */
  filled(name: string, content: Fields): Fields
  /** The part that a key without MANAGE can read, if not all. */
  shownToReaders?(fields: Fields): Fields
  /** Names of resources of the same kind that it depends on. */
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

/** What a kind adds to the description of its resource. */
type Rules<R extends Resource> = Partial<Pick<Kind, 'refusal' | 'shownToReaders' | 'needs' | 'put'>> & {
  /** Every field whose default is not null, and those that are compared in another form than they were given. */
  filled(name: string, content: Fields): Record<WithDefault<R>, unknown> & Fields
}
/** Optional fields that null does not reset. */
type WithDefault<R extends Resource> = Exclude<
  {
    [Field in keyof ContentOf<R>]-?: undefined extends ContentOf<R>[Field] | IfOptional<ContentOf<R>, Field>
      ? null extends ContentOf<R>[Field]
        ? never
        : Field
      : never
  }[keyof ContentOf<R>],
  ShownOnce<R>
>
type IfOptional<Content, Field extends keyof Content> =
  object extends Pick<Content, Field> ? undefined : never
type ShownOnce<R extends Resource> = R extends { shownOnce: infer Field } | { neverShown: infer Field }
  ? Field
  : never

export function kindOf<R extends Resource>(described: R, rules: Rules<R>): Kind {
  const { name, noun, key, params, content, shownOnce, neverShown }: Resource = described
  const shown = Object.keys(content.properties).filter((field) => field !== shownOnce && field !== neverShown)
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
    refusal: () => undefined,
    ...rules,
    filled(each, given) {
      const fields = Object.fromEntries(shown.map((field) => [field, given[field] ?? null]))
      return { ...fields, ...rules.filled(each, given) }
    },
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
