// A kind of resources in a fleet file: its names, schemas and calls.

import type { Jobcast } from '@jobcast/client'
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
  put(client: Jobcast, name: string, content: Fields, isNew: boolean): Promise<string | undefined>
  remove(client: Jobcast, name: string): Promise<void>
}

/** For lists that are read to their end. */
export const largePages = { limit: 200 }

/** For fields whose order has no meaning. */
export function sorted(texts: unknown): string[] {
  return (texts as readonly string[]).toSorted()
}
