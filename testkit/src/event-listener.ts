// A client of the event stream for tests: the received events, the last id, and the end of the stream.

import type { JobcastEvent } from '@jobcast/contract'

/** `cookie` of a session replaces a key. `without` omits types of events that depend on the clock. */
export type ListenOptions = {
  query?: string
  key?: string
  cookie?: string
  lastEventId?: number | string
  without?: readonly string[]
}

export class EventListener {
  readonly events: JobcastEvent[] = []
  /** The id of the last block, with data or without. */
  lastId = ''
  readonly response: Response
  readonly #abort: AbortController
  readonly #without: readonly string[]
  readonly #news = new Set<() => void>()
  /** Resolves when either side has ended the stream. */
  readonly ended: Promise<void>

  private constructor(response: Response, abort: AbortController, without: readonly string[]) {
    this.response = response
    this.#abort = abort
    this.#without = without
    this.ended = this.#read().catch(() => undefined)
  }

  static async open(http: string, adminKey: string, options: ListenOptions = {}): Promise<EventListener> {
    const { query = '', key = adminKey, cookie, lastEventId, without = [] } = options
    const abort = new AbortController()
    const response = await fetch(`${http}/job/api/events${query}`, {
      signal: abort.signal,
      headers: {
        ...(cookie === undefined ? { 'x-api-key': key } : { cookie }),
        ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
      },
    })
    const listener = new EventListener(response, abort, without)
    if (response.ok) await listener.until(() => listener.lastId !== '')
    return listener
  }

  /** Resolves once the condition holds. It is checked on every arrival. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo()) return
        this.#news.delete(look)
        resolve()
      }
      this.#news.add(look)
      look()
      void this.ended.then(() => {
        look()
        reject(new Error(`the stream ended after ${JSON.stringify(this.events.at(-1))}`))
      })
    })
  }

  close(): void {
    this.#abort.abort()
  }

  async #read(): Promise<void> {
    if (!this.response.ok || this.response.body === null) return
    let rest = ''
    for await (const text of this.response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
      for (const look of this.#news) look()
    }
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
    this.lastId = fields.get('id') ?? this.lastId
    const data = fields.get('data')
    if (data === undefined) return
    const event = JSON.parse(data)
    if (fields.get('event') !== event.type || this.lastId !== String(event.eventId)) {
      throw new Error(`a block that contradicts itself: ${block}`)
    }
    if (!this.#without.includes(event.type)) this.events.push(event)
  }
}
