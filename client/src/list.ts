// A list: all of it, item by item, or one page.

import type { CallOptions, Transport } from './transport.ts'

export type Page<T> = { items: T[]; nextCursor: string | null }

/** The query of every list; `limit` is the page size, 1 to 200, by default 50. */
export type PageQuery = { limit?: number | undefined; cursor?: string | undefined }

/** The query of the API; undefined fields are omitted, and a single value is accepted instead of a list. */
export type Query<T> = { [Key in keyof T]?: T[Key] | OneOf<NonNullable<T[Key]>> | undefined }
type OneOf<T> = T extends readonly (infer Item)[] ? Item : never

export class List<T> implements AsyncIterable<T> {
  readonly #transport: Transport
  readonly #path: string
  readonly #query: PageQuery
  readonly #options: CallOptions

  constructor(transport: Transport, path: string, query: PageQuery = {}, { signal }: CallOptions = {}) {
    this.#transport = transport
    this.#path = path
    this.#query = query
    this.#options = { signal }
  }

  /** The single page that the query names. */
  page(): Promise<Page<T>> {
    return this.#page(this.#query.cursor)
  }

  /** From the query's cursor to the end. Pages are fetched as needed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: string | null | undefined = this.#query.cursor
    do {
      const page: Page<T> = await this.#page(cursor)
      yield* page.items
      cursor = page.nextCursor
    } while (cursor !== null)
  }

  #page(cursor: string | undefined): Promise<Page<T>> {
    return this.#transport.value({
      method: 'GET',
      path: this.#path,
      query: { ...this.#query, cursor },
      ...this.#options,
    })
  }
}
