// One webhook at work: events come in from the log, go out in their lanes, and what became of them is written down.
// All that it keeps in memory can be lost: the cursor and the log of deliveries say where to go on.

import type { PauseReason } from '@jobcast/contract'
import { type StoredEvent, subjectOf } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { StoredAttempt, StoredWebhook } from '../../domain/ports/webhooks.ts'
import type { Tell } from '../../observe/events.ts'
import type { Clock } from './clock.ts'
import { DeliveryLedger } from './delivery-ledger.ts'
import { EventFeed } from './event-feed.ts'
import type { Answer } from './event-poster.ts'
import { judgeAnswer } from './judge-answer.ts'
import { type Entry, Lanes } from './lanes.ts'
import type { ProgressWriter } from './progress-writer.ts'
import { ReceiverHealth } from './receiver-health.ts'
import { type Message, signEvent } from './sign-event.ts'
import type { Asker, Slots } from './slots.ts'

export type ChannelDeps = {
  store: Pick<Store, 'listEvents' | 'getEvent' | 'getEventBounds' | 'listTried' | 'listPendingDeliveries'>
  clock: Clock
  /** From 0 to 1. */
  chance: () => number
  /** Undefined if it was cut off. */
  post: (message: Message) => Promise<Answer | undefined>
  slots: Slots
  writer: ProgressWriter
  tell: Tell
  /** Something of ours did not work; it is tried again. */
  onFailure: (error: unknown) => void
  /** Events were read: the cursor may have moved past some that there is nothing to write down of. */
  onRead: () => void
  /** It has paused itself, and that is written down. */
  onPaused: (webhookNo: number) => void
}

const maxAtOnce = 8
/** So many are read ahead; the log keeps the others. */
const maxReady = 1000
/** If so many wait for another attempt, or behind one that does, no others are read. Of these only the ids are held. */
const maxOpen = 10_000
const pendingPerRead = 1000
/** A receiver that is back gets at once what failed no more often than this. */
const fewTries = 3
const restAfterFailureMs = 1000

export class WebhookChannel implements Asker {
  readonly #webhook: StoredWebhook
  readonly #deps: ChannelDeps
  readonly #feed: EventFeed
  readonly #health: ReceiverHealth
  readonly #ledger: DeliveryLedger
  readonly #lanes = new Lanes()
  readonly #underWay = new Set<Promise<void>>()
  #reading: Promise<void> | undefined
  #isClosing = false
  #callOffTimer: () => void = () => undefined

  constructor(deps: ChannelDeps, webhook: StoredWebhook, lastTried: number) {
    this.#deps = deps
    this.#webhook = webhook
    this.#health = new ReceiverHealth(deps.clock, deps.chance, webhook.failingSince)
    this.#ledger = new DeliveryLedger(deps.writer, webhook, () => this.#standing)
    const onForgotten = (upTo: number) => deps.tell({ kind: 'webhook-events-forgotten', ...this.#name, upTo })
    this.#feed = new EventFeed({ store: deps.store, onForgotten }, webhook, lastTried)
  }

  get isFailing(): boolean {
    return this.#health.failingSince !== null
  }

  /** Takes up what was tried before, then everything behind the cursor. */
  async open(): Promise<void> {
    const { store, clock } = this.#deps
    let after: number | undefined
    do {
      const slice = { after, limit: pendingPerRead }
      const { items, next } = await store.listPendingDeliveries({ webhookNo: this.#webhook.webhookNo, slice })
      for (const { nextAt, ...pending } of items) {
        const waitMs = nextAt - clock.now()
        const dueAt = waitMs > 0 ? clock.elapsed() + waitMs : 0
        this.#lanes.add({ ...pending, isTried: true, event: undefined, dueAt })
      }
      after = next
    } while (after !== undefined)
    this.pump()
  }

  /** There are new events, whoever's. */
  noticeEvents(): void {
    this.#feed.hasMore = true
    this.pump()
  }

  keepCursor(): void {
    this.#ledger.keepCursor()
  }

  /** Begins whatever can be begun. */
  pump(): void {
    if (this.#isClosing || this.#deps.writer.isStuck) return
    this.#callOffTimer()
    for (;;) {
      const entry = this.#next()
      if (entry === undefined || !this.#deps.slots.take(this)) break
      this.#lanes.begin(entry)
      const sending = this.#send(entry, this.#health.isDown).finally(() => {
        this.#underWay.delete(sending)
        this.#deps.slots.giveBack()
        this.pump()
      })
      this.#underWay.add(sending)
    }
    this.#read()
    this.#setTimer()
  }

  /** No new requests; resolves when those under way are done and what became of them is written down. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#callOffTimer()
    await Promise.all([...this.#underWay, this.#reading])
    this.keepCursor()
    await this.#ledger.written()
  }

  get #name() {
    return { webhookName: this.#webhook.webhookName, ownerNo: this.#webhook.ownerNo }
  }

  /**
   * All up to the cursor are dealt with: they do not match, or were tried. When the channel is closing somebody has
   * changed the webhook, and may have said that it counts as failing no more.
   */
  get #standing() {
    const first = this.#lanes.firstUntried
    return {
      cursor: first ? first.eventId - 1 : this.#feed.upTo,
      failingSince: this.#isClosing ? undefined : this.#health.failingSince,
    }
  }

  /** Of a receiver that is down one is tried, also before its time. */
  #next(): Entry | undefined {
    const elapsed = this.#deps.clock.elapsed()
    const { isDown, askAt } = this.#health
    if (this.#underWay.size >= (isDown ? 1 : maxAtOnce) || elapsed < askAt) return undefined
    return this.#lanes.peek(elapsed) ?? (isDown ? this.#lanes.soonest() : undefined)
  }

  #setTimer(): void {
    const { elapsed, after } = this.#deps.clock
    const { isDown, askAt } = this.#health
    const dueAt = isDown && this.#lanes.size > 0 ? 0 : this.#lanes.dueAt
    const at = Math.max(dueAt, askAt)
    // What is due already waits for something else than time.
    if (at > elapsed() && Number.isFinite(at)) this.#callOffTimer = after(at - elapsed(), () => this.pump())
  }

  #read(): void {
    const { ready, size } = this.#lanes
    const isFull = ready > maxReady / 2 || size >= maxOpen
    if (isFull) this.#feed.isBehind = true
    if (this.#reading || !this.#feed.hasMore || isFull) return
    const goOn = () => {
      this.#reading = undefined
      this.pump()
    }
    this.#reading = this.#feed
      .read(Math.min(maxReady - ready, maxOpen - size), (events) => this.#takeIn(events))
      .then(() => {
        this.#deps.onRead()
        goOn()
      })
      .catch((error: unknown) => {
        this.#deps.onFailure(error)
        this.#deps.clock.after(restAfterFailureMs, goOn)
      })
  }

  #takeIn(events: StoredEvent[]): void {
    for (const event of events) {
      const { eventId, type } = event
      this.#lanes.add({ eventId, type, subject: subjectOf(event), tries: 0, isTried: false, dueAt: 0, event })
    }
  }

  async #send(entry: Entry, isProbe: boolean): Promise<void> {
    const { store, clock, post, tell, onFailure } = this.#deps
    const { eventId } = entry
    try {
      const event = entry.event ?? (await store.getEvent({ ownerNo: this.#webhook.ownerNo, eventId }))
      const at = clock.now()
      if (event === undefined) {
        this.#end(entry, 'FAILED', { at, status: null, error: 'the event is no longer kept', ms: 0 })
        return
      }
      const begun = clock.elapsed()
      const answer = await post(signEvent(this.#webhook, event, at))
      if (answer === undefined) return
      const { status, error } = answer
      const attempt = { at, status, error, ms: Math.round(clock.elapsed() - begun) }
      tell({ kind: 'webhook-attempted', ...this.#name, eventId, ...attempt })
      this.#settle(entry, answer, attempt, isProbe)
    } catch (error) {
      onFailure(error)
      entry.dueAt = clock.elapsed() + restAfterFailureMs
      this.#lanes.putBack(entry)
    }
  }

  #settle(entry: Entry, answer: Answer, attempt: StoredAttempt, isProbe: boolean): void {
    const verdict = judgeAnswer(answer, { tries: entry.tries, isProbe, chance: this.#deps.chance() })
    if (verdict.kind === 'accepted') {
      const isBack = this.#health.accepted()
      this.#end(entry, 'DELIVERED', attempt)
      if (isBack) this.#lanes.makeDue(({ tries }) => tries <= fewTries)
      return
    }
    if (verdict.kind === 'gone') {
      this.#retry(entry, 0, attempt)
      this.#pauseBecause('gone')
      return
    }
    this.#health.failed(isProbe)
    if (answer.retryAfterMs > 0) this.#health.hold(answer.retryAfterMs)
    if (verdict.kind === 'given-up') {
      this.#end(entry, 'FAILED', attempt)
    } else {
      entry.tries = verdict.tries
      this.#retry(entry, verdict.delay, attempt)
    }
    if (this.#health.isHopeless) this.#pauseBecause('failing')
  }

  #end(entry: Entry, state: 'DELIVERED' | 'FAILED', attempt: StoredAttempt): void {
    this.#lanes.done(entry)
    this.#ledger.note(entry, state, attempt, null)
  }

  #retry(entry: Entry, delay: number, attempt: StoredAttempt): void {
    const { now, elapsed } = this.#deps.clock
    entry.dueAt = elapsed() + delay
    entry.isTried = true
    entry.event = undefined
    this.#lanes.putBack(entry)
    this.#ledger.note(entry, 'PENDING', attempt, now() + delay)
  }

  /** Not when somebody is changing it: what was answered may have come from an address it has no more. */
  #pauseBecause(because: PauseReason): void {
    if (this.#isClosing) return
    const { clock, tell, onPaused } = this.#deps
    this.#isClosing = true
    tell({ kind: 'webhook-paused', ...this.#name, because })
    void this.#ledger.pause(because, clock.now()).then(() => onPaused(this.#webhook.webhookNo))
  }
}
