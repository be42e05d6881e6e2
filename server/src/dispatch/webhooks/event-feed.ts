// The events that a webhook has yet to deal with, read from the log from its cursor on.

import type { StoredEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { StoredWebhook } from '../../domain/ports/webhooks.ts'
import { filterOf } from '../../domain/webhook.ts'

export type FeedDeps = {
  store: Pick<Store, 'listEvents' | 'getEventBounds' | 'listTried'>
  /** Events up to this one were forgotten before they were sent. */
  onForgotten: (upTo: number) => void
}

export class EventFeed {
  readonly #deps: FeedDeps
  readonly #webhook: StoredWebhook
  /** Up to here some may have been tried before the restart. */
  readonly #lastTried: number
  #upTo: number
  /** It is not known that there is nothing more. */
  hasMore = true
  /** Some may have been forgotten before they were read. */
  isBehind = true

  constructor(deps: FeedDeps, webhook: StoredWebhook, lastTried: number) {
    this.#deps = deps
    this.#webhook = webhook
    this.#lastTried = lastTried
    this.#upTo = webhook.cursor
  }

  /** All events up to it were read. */
  get upTo(): number {
    return this.#upTo
  }

  /** The next ones; often none, though there may be more. The callback is called before `upTo` moves on. */
  async read(limit: number, onEvents: (events: StoredEvent[]) => void): Promise<void> {
    const { ownerNo } = this.#webhook
    // Said before the look: what comes in meanwhile must not be overlooked.
    this.hasMore = false
    try {
      const forgotten = this.isBehind ? (await this.#deps.store.getEventBounds({ ownerNo })).forgotten : 0
      const after = Math.max(this.#upTo, forgotten)
      const look = await this.#deps.store.listEvents({
        ownerNo,
        filter: filterOf(this.#webhook),
        slice: { after, limit },
      })
      const events = await this.#untriedOf(look.events)
      if (forgotten > this.#upTo) this.#deps.onForgotten(forgotten)
      onEvents(events)
      this.#upTo = look.upTo
      this.isBehind = look.more
      if (look.more) this.hasMore = true
    } catch (error) {
      this.hasMore = true
      throw error
    }
  }

  async #untriedOf(events: StoredEvent[]): Promise<StoredEvent[]> {
    const [first] = events
    const last = events.at(-1)
    if (first === undefined || last === undefined || first.eventId > this.#lastTried) return events
    const { webhookNo, round } = this.#webhook
    const range = { round, from: first.eventId, to: last.eventId }
    const tried = new Set(await this.#deps.store.listTried({ webhookNo, ...range }))
    return events.filter(({ eventId }) => !tried.has(eventId))
  }
}
