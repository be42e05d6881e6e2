// Publishes an owner's event log to a topic of the broker: in order, at least once. The cursor is stored after the broker has
// acknowledged, so a crash repeats events but loses none.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../domain/common/ports/store.ts'
import { toWireEvent } from '../../domain/event/event.ts'
import type { ChangeSignal } from '../../domain/event/ports/change-signal.ts'
import { accessNouns } from '../../domain/event/visible-events.ts'
import { MessageTooLarge } from './broker-link.ts'

export type BridgeEventsDeps = {
  store: Pick<Store, 'listEvents' | 'getEventBounds' | 'getBridgeCursor' | 'setBridgeCursor'>
  newEvents: ChangeSignal<'all'>
  now: () => number
}

type EventsOf = {
  bridgeName: string
  ownerNo: number
  /** Resolves once the broker has acknowledged the event; rejects with `MessageTooLarge` if it never will. */
  publish(json: string): Promise<void>
  onFailure(error: string): void
}

const eventsPerRead = 200
/** The same events as for a webhook without `eventTypes`, because the readers of the topic are unknown. */
const filter = { hiddenNouns: accessNouns }
/** Events of several commits are read together. */
const gatherMs = 50
/** Upper bound of the delay after a lost signal. */
const pollMs = 5000
const [firstRetryMs, longestRetryMs] = [1000, 60_000]

export class BridgeEvents {
  readonly #deps: BridgeEventsDeps
  readonly #of: EventsOf
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  /** Since when the next event could not be published. */
  failingSince: number | undefined
  /** Number of events skipped because they are too large for the broker. */
  leftOut = 0

  constructor(deps: BridgeEventsDeps, of: EventsOf) {
    this.#deps = deps
    this.#of = of
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const watch = this.#deps.newEvents.openWatch('all')
    const { signal } = this.#stopping
    let retryMs = firstRetryMs
    try {
      let after: number | undefined
      while (!signal.aborted) {
        try {
          after ??= await this.#begin()
          const page = await this.#publishFrom(after)
          after = page.upTo
          if (page.refused !== undefined) throw page.refused
          retryMs = firstRetryMs
          this.failingSince = undefined
          if (!page.more) await watch.nextChange(pollMs, signal)
          await this.#sleep(gatherMs)
        } catch (error) {
          if (!signal.aborted) {
            this.failingSince ??= this.#deps.now()
            this.#of.onFailure(`events could not be published: ${(error as Error).message}`)
          }
          await this.#sleep(retryMs)
          retryMs = Math.min(longestRetryMs, 2 * retryMs)
        }
      }
    } finally {
      watch.close()
    }
  }

  /** The stored cursor; on the first start, the newest event, so that only later events are published. */
  async #begin(): Promise<number> {
    const { bridgeName, ownerNo } = this.#of
    const stored = await this.#deps.store.getBridgeCursor({ bridgeName, ownerNo })
    if (stored !== undefined) return stored
    const { newest } = await this.#deps.store.getEventBounds({ ownerNo })
    await this.#deps.store.setBridgeCursor({ bridgeName, ownerNo, eventId: newest })
    return newest
  }

  /** Publishes a page of events, up to the first one that the broker refused. */
  async #publishFrom(cursor: number): Promise<{ upTo: number; more: boolean; refused?: unknown }> {
    const { bridgeName, ownerNo, publish } = this.#of
    const { store } = this.#deps
    const slice = { after: cursor, limit: eventsPerRead }
    const { events, upTo, more, purgedUpTo } = await store.listEvents({ ownerNo, filter, slice })
    if (purgedUpTo > cursor) {
      this.#of.onFailure(`the events up to ${purgedUpTo} expired before they were published`)
      return { upTo: purgedUpTo, more: true }
    }
    if (events.length === 0) return { upTo, more }
    const published = events.map((event) => publish(JSON.stringify(toWireEvent(event))))
    const outcomes = await this.#unlessStopped(Promise.allSettled(published))
    const refusals = outcomes.map((each) => (each.status === 'rejected' ? each.reason : undefined))
    for (const [index, refusal] of refusals.entries())
      if (refusal instanceof MessageTooLarge) {
        this.leftOut++
        this.#of.onFailure(`event ${events[index]?.eventId} is left out: ${refusal.message}`)
      }
    const first = refusals.findIndex((each) => each !== undefined && !(each instanceof MessageTooLarge))
    const reached = first === -1 ? upTo : (events[first - 1]?.eventId ?? cursor)
    if (reached > cursor) await store.setBridgeCursor({ bridgeName, ownerNo, eventId: reached })
    return first === -1 ? { upTo, more } : { upTo: reached, more: true, refused: refusals[first] }
  }

  /** Rejects when stopped: the node that takes over publishes the pending events. */
  #unlessStopped<T>(settled: Promise<T>): Promise<T> {
    const { signal } = this.#stopping
    return new Promise((resolve, reject) => {
      const stop = () => reject(new Error('stopped'))
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
      // Otherwise each page would leave a listener behind.
      void settled.then((outcomes) => {
        signal.removeEventListener('abort', stop)
        resolve(outcomes)
      })
    })
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }
}
