// The events that a webhook has yet to deliver, read from the event log starting at its cursor.

import type { Store } from '../../domain/common/ports/store.ts'
import type { StoredEvent } from '../../domain/event/event.ts'
import { isWanted } from '../../domain/webhook/chat-events.ts'
import { eventsWithin, type WithinStore } from '../../domain/webhook/events-within.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import { filterOf } from '../../domain/webhook/webhook.ts'
import { FailingRuns } from './failing-runs.ts'

type FeedDeps = {
  store: Pick<Store, 'listEvents' | 'getEventBounds' | 'listTried' | 'isRunReported'> & WithinStore
  /** Events up to this one were purged before they were sent. */
  onPurged: (upTo: number) => void
}

export class EventFeed {
  readonly #deps: FeedDeps
  readonly #webhook: StoredWebhook
  readonly #failing: FailingRuns
  /** Events up to this one may have been attempted before the restart. */
  readonly #lastTried: number
  #upTo: number
  /** False only when the end of the log was reached and no event was announced since. */
  hasMore = true
  /** Retention may purge events before they are read. */
  isBehind = true

  constructor(deps: FeedDeps, webhook: StoredWebhook, lastTried: number) {
    this.#deps = deps
    this.#webhook = webhook
    this.#failing = new FailingRuns(deps.store, webhook)
    this.#lastTried = lastTried
    this.#upTo = webhook.cursor
  }

  /** All events up to this one were read. */
  get upTo(): number {
    return this.#upTo
  }

  /** Reads the next page; it may be empty although there are more. The callback runs before `upTo` advances. */
  async read(limit: number, onEvents: (events: StoredEvent[]) => void): Promise<void> {
    const { ownerNo } = this.#webhook
    // Reset before the read, so that events announced meanwhile set it again.
    this.hasMore = false
    try {
      const purged = this.isBehind ? (await this.#deps.store.getEventBounds({ ownerNo })).purgedUpTo : 0
      const after = Math.max(this.#upTo, purged)
      const page = await this.#deps.store.listEvents({
        ownerNo,
        filter: filterOf(this.#webhook),
        slice: { after, limit },
      })
      const within = await eventsWithin(this.#deps.store, this.#webhook, page.events)
      const wanted = within.filter((event) => isWanted(this.#webhook, event))
      const events = await this.#failing.firstOf(await this.#untriedOf(wanted))
      if (purged > this.#upTo) this.#deps.onPurged(purged)
      onEvents(events)
      this.#failing.remember(events)
      this.#upTo = page.upTo
      this.isBehind = page.more
      if (page.more) this.hasMore = true
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
