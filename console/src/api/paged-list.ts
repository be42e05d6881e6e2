// A list that is read page by page while the user scrolls, up to a hundred thousand rows. A change on the server reloads the
// first page and keeps the rows below, as far as the user has scrolled: reloading every page would take minutes, and an open
// list must not grow with every change.

import type { Page } from '@jobcast/client'
import { signal } from '@preact/signals'
import { noteRefusal } from './refusal.ts'

export type ListSource<T> = {
  key: readonly unknown[]
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>
  idOf: (row: T) => string | number
}

export type ListState<T> = {
  rows: T[]
  /** Undefined before the first page, null when all pages are loaded. */
  nextCursor: string | null | undefined
  isLoading: boolean
  error: unknown
}

export class PagedList<T> {
  readonly source: ListSource<T>
  readonly state = signal<ListState<T>>({
    rows: [],
    nextCursor: undefined,
    isLoading: false,
    error: undefined,
  })
  /** The next cursor by the last row of a page. */
  readonly #cursors = new Map<string | number, string>()
  /** The number of rows that the user has scrolled to. */
  #asked = 0
  #loading: Promise<void> | undefined
  #life = new AbortController()

  constructor(source: ListSource<T>) {
    this.source = source
  }

  /** Loads the next page, if there is one and none is being loaded. With filters a page before the end may be empty. */
  loadMore(): Promise<void> {
    const { nextCursor } = this.state.value
    if (nextCursor === null) return Promise.resolve()
    return this.#once(async (signal) => {
      let cursor = nextCursor
      let page: Page<T>
      do {
        page = await this.#load(cursor ?? undefined, signal)
        cursor = page.nextCursor ?? undefined
      } while (page.items.length === 0 && page.nextCursor !== null)
      const rows = [...this.state.value.rows, ...page.items]
      this.#asked = rows.length
      this.#set({ rows, nextCursor: page.nextCursor })
    })
  }

  /** Reloads the first page and keeps the rows after it. */
  async refresh(): Promise<void> {
    await this.#loading?.catch(() => undefined)
    if (this.state.value.nextCursor === undefined) return this.loadMore()
    return this.#once(async (signal) => {
      const page = await this.#load(undefined, signal)
      const { rows, nextCursor } = this.state.value
      const last = page.items.at(-1)
      const place = last === undefined ? -1 : rows.findIndex((row) => this.#isSame(row, last))
      // If the old rows do not follow the new ones, there may be other rows in between.
      const follows = place >= 0 && page.nextCursor !== null
      if (!follows) {
        this.#cursors.clear()
        if (last !== undefined && page.nextCursor !== null)
          this.#cursors.set(this.source.idOf(last), page.nextCursor)
        return this.#set({ rows: page.items, nextCursor: page.nextCursor })
      }
      this.#set(
        this.#cut({ rows: [...page.items, ...rows.slice(place + 1)], nextCursor: nextCursor ?? null }),
      )
    })
  }

  async #load(cursor: string | undefined, signal: AbortSignal): Promise<Page<T>> {
    const page = await this.source.load(cursor, signal)
    const last = page.items.at(-1)
    if (last !== undefined && page.nextCursor !== null) {
      this.#cursors.set(this.source.idOf(last), page.nextCursor)
    }
    return page
  }

  /** Cuts the list at the end of a page, beyond the rows that the user has scrolled to. */
  #cut(list: { rows: T[]; nextCursor: string | null }): { rows: T[]; nextCursor: string | null } {
    for (let index = this.#asked; index < list.rows.length; index++) {
      const cursor = this.#cursors.get(this.source.idOf(list.rows[index] as T))
      if (cursor === undefined) continue
      for (const row of list.rows.slice(index + 1)) this.#cursors.delete(this.source.idOf(row))
      return { rows: list.rows.slice(0, index + 1), nextCursor: cursor }
    }
    return list
  }

  /** Changes rows in place, if an event has all fields of a row; undefined removes the row. */
  patch(change: (row: T) => T | undefined): void {
    const rows = this.state.value.rows.map(change).filter((row) => row !== undefined)
    this.#set({ rows })
  }

  /** Removes a deleted row, which would otherwise be shown until its page is read again. */
  remove(id: string | number): void {
    this.#set({ rows: this.state.value.rows.filter((row) => this.source.idOf(row) !== id) })
  }

  close(): void {
    this.#life.abort()
    this.#life = new AbortController()
    this.#loading = undefined
  }

  #isSame(a: T, b: T): boolean {
    return this.source.idOf(a) === this.source.idOf(b)
  }

  #once(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#loading) return this.#loading
    const { signal } = this.#life
    this.#set({ isLoading: true, error: undefined })
    const loading = work(signal)
      .catch((error: unknown) => {
        if (signal.aborted) return
        noteRefusal(error)
        this.#set({ error })
      })
      .finally(() => {
        if (this.#loading === loading) this.#loading = undefined
        this.#set({ isLoading: this.#loading !== undefined })
      })
    this.#loading = loading
    return loading
  }

  #set(change: Partial<ListState<T>>): void {
    this.state.value = { ...this.state.value, ...change }
  }
}
