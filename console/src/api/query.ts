// One cached API response: it is read when a component shows it, and again when an event or its age has made it stale.

import { keepEqual } from './keep-equal.ts'
import type { QueryKey } from './query-key.ts'
import { noteRefusal } from './refusal.ts'

export type QueryOptions<T> = {
  queryKey: QueryKey
  queryFn: (context: { signal: AbortSignal }) => Promise<T>
  /** False: the response is shown if it is cached, but not read. */
  enabled?: boolean
  /** Reads again this long after the last change, while the page is visible. */
  refetchInterval?: number
  /** Until this age, a cached response is shown without reading it again. */
  staleTime?: number
  /** False: the new response replaces the previous one without comparing them. */
  structuralSharing?: boolean
}

/** A component that shows the query. */
type Watcher = { isEnabled: boolean; onChange: () => void }

const staleAfterMs = 5000

export class Query<T> {
  readonly key: QueryKey
  data: T | undefined
  error: unknown
  /** Incremented with each change of data or error. */
  version = 0
  readonly #onUnwatched: () => void
  readonly #watchers = new Set<Watcher>()
  #options: QueryOptions<T> | undefined
  #updatedAt = Number.NEGATIVE_INFINITY
  #isInvalid = false
  #reading: { life: AbortController; done: Promise<void> } | undefined

  constructor(key: QueryKey, onUnwatched: () => void) {
    this.key = key
    this.#onUnwatched = onUnwatched
  }

  /** As the components give them with each drawing. */
  use(options: QueryOptions<T>): void {
    this.#options = options
  }

  /** Whether a removed response could be read again. */
  get isReadable(): boolean {
    return this.#options !== undefined
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0
  }

  get isReading(): boolean {
    return this.#reading !== undefined
  }

  /** Whether it is shown and may be read. */
  get isActive(): boolean {
    return [...this.#watchers].some(({ isEnabled }) => isEnabled)
  }

  /** Reads a stale response if the watcher is enabled. Returns the end of watching. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    if (watcher.isEnabled) this.readIfStale()
    return () => {
      this.#watchers.delete(watcher)
      // A component whose options change watches again at once.
      queueMicrotask(() => {
        if (this.isWatched) return
        this.cancel()
        this.#onUnwatched()
      })
    }
  }

  readIfStale(): void {
    const age = Date.now() - this.#updatedAt
    const isStale = this.#isInvalid || age >= (this.#options?.staleTime ?? staleAfterMs)
    if (isStale || this.data === undefined) void this.read()
  }

  /** The read that is in progress, or a new one. Never rejects. */
  async read(): Promise<void> {
    if (this.#options === undefined) return
    if (this.#reading === undefined) {
      const life = new AbortController()
      this.#reading = { life, done: this.#readWith(life, this.#options) }
    }
    await this.#reading.done
  }

  /** Reads what is shown again. A read that is in progress may return what was there before the change. */
  async invalidate(): Promise<void> {
    this.#isInvalid = true
    if (!this.isActive) return
    if (this.data !== undefined) this.cancel()
    await this.read()
  }

  refetch = async (): Promise<void> => {
    this.cancel()
    await this.read()
  }

  set(data: T): void {
    this.data = data
    this.#end()
  }

  cancel(): void {
    this.#reading?.life.abort()
    this.#reading = undefined
  }

  async #readWith(life: AbortController, options: QueryOptions<T>): Promise<void> {
    const { queryFn, structuralSharing = true } = options
    if (this.data === undefined) this.error = undefined
    try {
      // Not before #reading is set, however soon it fails.
      const data = await Promise.resolve({ signal: life.signal }).then(queryFn)
      if (life.signal.aborted) return
      this.data = structuralSharing ? keepEqual(this.data, data) : data
      this.#end()
    } catch (error) {
      if (life.signal.aborted) return
      noteRefusal(error)
      this.#end(error)
      this.#isInvalid = true
    } finally {
      if (this.#reading?.life === life) this.#reading = undefined
    }
  }

  #end(error?: unknown): void {
    this.error = error
    this.#isInvalid = false
    if (error === undefined) this.#updatedAt = Date.now()
    this.version++
    for (const { onChange } of [...this.#watchers]) onChange()
  }
}
