// A resource: what owners put, get, list and delete by its name. Its description is written once; routes, the OpenAPI document,
// the calls of the client, and `ls`, `get`, `put` and `rm` of the command line follow from it.

import type { Static, TObject } from 'typebox'
import type { Scope } from '../api-key.ts'
import type { ErrorCode } from '../errors.ts'
import type { EventType } from '../event-type.ts'
import type { PageQuery } from '../page.ts'

export type Resource = {
  /** In paths, commands and files: `groups`. */
  name: string
  /** `group`; operations are called putGroup, getGroup, deleteGroup and listGroups. */
  noun: string
  about: string
  /** The parameter in its path, and the field of its view: `groupName`. */
  key: string
  params: TObject
  /** What PUT takes: the whole content. */
  content: TObject
  /** What GET answers. */
  view: TObject
  /** What PUT answers if it is new, if that is more than the view. */
  created?: TObject
  /** The field of its content that is generated unless it is given, and shown only by `created`. */
  shownOnce?: string
  /** The field of its content that no answer shows. */
  neverShown?: string
  /** Of its list; default: limit and cursor only. */
  query?: TObject
  /** Of its deletion. */
  deletion?: TObject
  scopes: { read: Scope; write: Scope; alsoPut?: Scope }
  /** How many an owner may have: the name of a setting, or a number. */
  quota: string | number
  notFound: ErrorCode
  inUse?: ErrorCode
  /** Errors of its own besides. */
  refusals?: { put?: readonly ErrorCode[]; list?: readonly ErrorCode[] }
  /** In the event log, as far as there are any. */
  events: { created?: EventType; updated?: EventType; deleted?: EventType }
  /** For the OpenAPI document. `gone`: what a deletion deletes, if that is more than itself. */
  texts?: { put?: string; get?: string; list?: string; delete?: string; gone?: string }
}

export type ContentOf<R extends Resource> = Static<R['content']>
export type ViewOf<R extends Resource> = Static<R['view']>
export type CreatedOf<R extends Resource> = R extends { created: TObject } ? Static<R['created']> : ViewOf<R>
export type DeletionOf<R extends Resource> = R extends { deletion: TObject } ? Static<R['deletion']> : object
export type QueryOf<R extends Resource> = R extends { query: TObject } ? Static<R['query']> : PageQuery
