// Delivers one webhook: reads events from the log, sends them in order per subject, and records the results.
// Its memory can be lost at any time: the stored cursor and delivery log say where to continue.

import type { PauseReason } from '@jobcast/contract'
import type { Store } from '../../domain/common/ports/store.ts'
import type { StoredEvent } from '../../domain/event/event.ts'
import { eventsWithin, type WithinStore } from '../../domain/webhook/events-within.ts'
import { failingRunOf, isOvertaken, settleMs, subjectSent } from '../../domain/webhook/first-failure.ts'
import type { StoredAttempt, StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import type { FactsStore } from '../../domain/webhook/read-run-facts.ts'
import type { Tell } from '../../observe/events.ts'
import type { Clock } from './clock.ts'
import { DeliveryLedger } from './delivery-ledger.ts'
import { EventFeed } from './event-feed.ts'
import { type Answer, shownMs } from './event-poster.ts'
import { judgeAnswer } from './judge-answer.ts'
import type { ProgressWriter } from './progress-writer.ts'
import { ReceiverHealth } from './receiver-health.ts'
import { type Message, signEvent } from './sign-event.ts'
import type { Slots, SlotWaiter } from './slots.ts'
import { type Entry, SubjectQueues } from './subject-queues.ts'

export type ChannelDeps = {
  store: Pick<
    Store,
    'listEvents' | 'getEvent' | 'getEventBounds' | 'listTried' | 'isRunReported' | 'listPendingDeliveries'
  > &
    FactsStore &
    WithinStore
  /** The URL of the console, for links in messages. */
  publicUrl: string | undefined
  clock: Clock
  /** From 0 to 1. */
  chance: () => number
  /** Undefined if the request was aborted. */
  post: (message: Message) => Promise<Answer | undefined>
  slots: Slots
  writer: ProgressWriter
  tell: Tell
  /** An internal error; the step is retried. */
  onFailure: (error: unknown) => void
  /** Events were read: the cursor may have advanced past events that cause no delivery. */
  onRead: () => void
  /** The channel has paused its webhook, and the pause is stored. */
  onPaused: (webhookNo: number) => void
}

const maxAtOnce = 8
/** Events read ahead; the rest stay in the log. */
const maxReady = 1000
/** Reading stops while this many wait for a retry, or behind an event that does. Only their ids are in memory. */
const maxOpen = 10_000
const pendingPerRead = 1000
/** When a receiver recovers, events with at most this many tries are sent at once. */
const maxTriesToSendAtOnce = 3
const failureDelayMs = 1000
const isOutside = 'the event is no longer within the restriction of the webhook'

export class WebhookChannel implements SlotWaiter {
  readonly #webhook: StoredWebhook
  readonly #deps: ChannelDeps
  readonly #feed: EventFeed
  readonly #health: ReceiverHealth
  readonly #ledger: DeliveryLedger
  readonly #queues = new SubjectQueues()
  readonly #inFlight = new Set<Promise<void>>()
  #reading: Promise<void> | undefined
  #isClosing = false
  #cancelTimer: () => void = () => undefined

  constructor(deps: ChannelDeps, webhook: StoredWebhook, lastTried: number) {
    this.#deps = deps
    this.#webhook = webhook
    this.#health = new ReceiverHealth(deps.clock, deps.chance, webhook.failingSince)
    this.#ledger = new DeliveryLedger(deps.writer, webhook, () => this.#state)
    const onPurged = (upTo: number) => deps.tell({ kind: 'webhook-events-purged', ...this.#name, upTo })
    this.#feed = new EventFeed({ store: deps.store, onPurged }, webhook, lastTried)
  }

  get ownerNo(): number {
    return this.#webhook.ownerNo
  }

  /** `updatedAt` of the webhook as the channel was opened. */
  get updatedAt(): number {
    return this.#webhook.updatedAt
  }

  get isFailing(): boolean {
    return this.#health.failingSince !== null
  }

  /** Resumes pending deliveries, then reads events after the cursor. */
  async open(): Promise<void> {
    const { store, clock } = this.#deps
    let after: number | undefined
    do {
      const slice = { after, limit: pendingPerRead }
      const { items, next } = await store.listPendingDeliveries({ webhookNo: this.#webhook.webhookNo, slice })
      for (const { nextAt, ...pending } of items) {
        const waitMs = nextAt - clock.now()
        const dueAt = waitMs > 0 ? clock.elapsed() + waitMs : 0
        this.#queues.add({ ...pending, isTried: true, event: undefined, dueAt })
      }
      after = next
    } while (after !== undefined)
    this.pump()
  }

  /** There are new events, of any owner. */
  noticeEvents(): void {
    this.#feed.hasMore = true
    this.pump()
  }

  writeCursor(): void {
    this.#ledger.writeCursor()
  }

  /** Sends and reads as much as the limits allow. */
  pump(): void {
    if (this.#isClosing || this.#deps.writer.isStuck) return
    this.#cancelTimer()
    for (;;) {
      const entry = this.#next()
      if (entry === undefined || !this.#deps.slots.tryAcquire(this)) break
      this.#queues.begin(entry)
      const sending = this.#send(entry, this.#health.isDown).finally(() => {
        this.#inFlight.delete(sending)
        this.#deps.slots.release(this)
        this.pump()
      })
      this.#inFlight.add(sending)
    }
    this.#read()
    this.#setTimer()
  }

  /** Sends nothing more; resolves when running requests have ended and their results are stored. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#cancelTimer()
    await Promise.all([...this.#inFlight, this.#reading])
    this.writeCursor()
    await this.#ledger.written()
  }

  get #name() {
    return { webhookName: this.#webhook.webhookName, ownerNo: this.#webhook.ownerNo }
  }

  /**
   * All events up to the cursor were attempted or do not match. While the channel is closing, `failingSince` is left
   * alone: the webhook was changed, which may have reset it.
   */
  get #state() {
    const first = this.#queues.firstUntried
    return {
      cursor: first ? first.eventId - 1 : this.#feed.upTo,
      failingSince: this.#isClosing ? undefined : this.#health.failingSince,
    }
  }

  /** A receiver that is down is probed with one event, even before that event is due. */
  #next(): Entry | undefined {
    const elapsed = this.#deps.clock.elapsed()
    const { isDown, nextRequestAt } = this.#health
    if (this.#inFlight.size >= (isDown ? 1 : maxAtOnce) || elapsed < nextRequestAt) return undefined
    return this.#queues.peek(elapsed) ?? (isDown ? this.#queues.soonest() : undefined)
  }

  #setTimer(): void {
    const { elapsed, after } = this.#deps.clock
    const { isDown, nextRequestAt } = this.#health
    const dueAt = isDown && this.#queues.size > 0 ? 0 : this.#queues.dueAt
    const at = Math.max(dueAt, nextRequestAt)
    // An entry that is already due waits for a slot or a response, not for time.
    if (at > elapsed() && Number.isFinite(at)) this.#cancelTimer = after(at - elapsed(), () => this.pump())
  }

  #read(): void {
    const { ready, size } = this.#queues
    const isFull = ready > maxReady / 2 || size >= maxOpen
    if (isFull) this.#feed.isBehind = true
    if (this.#reading || !this.#feed.hasMore || isFull) return
    const resume = () => {
      this.#reading = undefined
      this.pump()
    }
    this.#reading = this.#feed
      .read(Math.min(maxReady - ready, maxOpen - size), (events) => this.#enqueue(events))
      .then(() => {
        this.#deps.onRead()
        resume()
      })
      .catch((error: unknown) => {
        this.#deps.onFailure(error)
        this.#deps.clock.after(failureDelayMs, resume)
      })
  }

  #enqueue(events: StoredEvent[]): void {
    for (const event of events) {
      const { eventId, type } = event
      this.#queues.add({
        eventId,
        type,
        subject: subjectSent(this.#webhook, event),
        tries: 0,
        isTried: false,
        dueAt: failingRunOf(this.#webhook, event) === undefined ? 0 : this.#deps.clock.elapsed() + settleMs,
        event,
      })
    }
  }

  async #send(entry: Entry, isProbe: boolean): Promise<void> {
    const { store, clock, post, tell, onFailure } = this.#deps
    const { eventId } = entry
    try {
      const stored = entry.event ?? (await store.getEvent({ ownerNo: this.#webhook.ownerNo, eventId }))
      const at = clock.now()
      if (stored === undefined) {
        this.#end(entry, 'FAILED', { at, status: null, error: 'the event is no longer retained', ms: 0 })
        return
      }
      const [event] = await eventsWithin(store, this.#webhook, [stored])
      if (event === undefined) {
        if (entry.isTried) this.#end(entry, 'FAILED', { at, status: null, error: isOutside, ms: 0 })
        else this.#queues.done(entry)
        return
      }
      if (!entry.isTried && (await isOvertaken(store, this.#webhook, event))) {
        this.#queues.done(entry)
        return
      }
      const begun = clock.elapsed()
      const answer = await post(await signEvent(this.#deps, this.#webhook, event, at))
      if (answer === undefined) return
      const { status, error, detail } = answer
      const ms = Math.round(clock.elapsed() - begun)
      tell({ kind: 'webhook-attempted', ...this.#name, eventId, status, error: detail ?? error, ms })
      const attempt = { at, status, error, ms: shownMs(answer, ms) }
      this.#settle(entry, answer, attempt, isProbe)
    } catch (error) {
      onFailure(error)
      entry.dueAt = clock.elapsed() + failureDelayMs
      this.#queues.putBack(entry)
    }
  }

  #settle(entry: Entry, answer: Answer, attempt: StoredAttempt, isProbe: boolean): void {
    const verdict = judgeAnswer(answer, { tries: entry.tries, isProbe, chance: this.#deps.chance() })
    if (verdict.kind === 'accepted') {
      const { wasDown, isBack } = this.#health.accepted()
      if (isBack) this.#deps.tell({ kind: 'webhook-recovered', ...this.#name })
      this.#end(entry, 'DELIVERED', attempt)
      if (wasDown) this.#queues.makeDue(({ tries }) => tries <= maxTriesToSendAtOnce)
      return
    }
    if (verdict.kind === 'gone') {
      this.#retry(entry, 0, attempt)
      this.#pauseBecause('gone')
      return
    }
    if (this.#health.failed(isProbe)) {
      const { status, error, detail } = answer
      this.#deps.tell({ kind: 'webhook-failing', ...this.#name, status, error: detail ?? error })
    }
    if (answer.retryAfterMs > 0) this.#health.hold(answer.retryAfterMs)
    if (verdict.kind === 'given-up') {
      this.#end(entry, 'FAILED', attempt)
    } else {
      entry.tries = verdict.tries
      this.#retry(entry, verdict.delay, attempt)
    }
    if (this.#health.shouldPause) this.#pauseBecause('failing')
  }

  #end(entry: Entry, state: 'DELIVERED' | 'FAILED', attempt: StoredAttempt): void {
    this.#queues.done(entry)
    this.#ledger.record(entry, state, attempt, null)
  }

  #retry(entry: Entry, delay: number, attempt: StoredAttempt): void {
    const { now, elapsed } = this.#deps.clock
    entry.dueAt = elapsed() + delay
    entry.isTried = true
    entry.event = undefined
    this.#queues.putBack(entry)
    this.#ledger.record(entry, 'PENDING', attempt, now() + delay)
  }

  /** Not while closing: the webhook was changed, and the response may be from its previous URL. */
  #pauseBecause(because: PauseReason): void {
    if (this.#isClosing) return
    const { clock, tell, onPaused } = this.#deps
    this.#isClosing = true
    tell({ kind: 'webhook-paused', ...this.#name, because })
    void this.#ledger.pause(because, clock.now()).then(() => onPaused(this.#webhook.webhookNo))
  }
}
