// Carries webhooks out: one channel for each that is not paused. Whatever changes of a webhook, its channel is closed
// and another one begins with what the store says.

import { setMaxListeners } from 'node:events'
import { setTimeout as rest } from 'node:timers/promises'
import type { Store } from '../../domain/ports/store.ts'
import type { WebhookLink } from '../../domain/webhook.ts'
import type { Tell } from '../../observe/events.ts'
import type { Clock } from './clock.ts'
import type { Answer, EventPoster } from './event-poster.ts'
import { ProgressWriter } from './progress-writer.ts'
import type { Message } from './sign-event.ts'
import { Slots } from './slots.ts'
import { type ChannelDeps, WebhookChannel } from './webhook-channel.ts'
import type { WebhookShare } from './webhook-share.ts'

export type SenderDeps = {
  store: Store
  clock: Clock
  /** From 0 to 1. */
  chance: () => number
  poster: Pick<EventPoster, 'post' | 'close'>
  tell: Tell
  /** Where several nodes carry them out: which of them are this one's. */
  share?: WebhookShare | undefined
}

const requestsAtOnce = 256
/** New events are gathered for so long: a busy fleet costs each webhook twenty looks a second at most… */
const gatherMs = 50
/** …and all of them together a thousand. */
const msPerLook = 1
/** A cursor that has moved without a delivery is written so much later, those of all webhooks together. */
const cursorsAfterMs = 30_000
const restAfterFailureMs = 1000
const tellFailureEveryMs = 10_000
/** When all is stopped, requests under way get this long. */
const lastAnswersMs = 3000

/** `again`: it has changed since the work on it began. */
type Place = { channel: WebhookChannel | undefined; again: boolean; work: Promise<void> | undefined }

export class WebhookSender implements WebhookLink {
  readonly #deps: SenderDeps
  readonly #writer: ProgressWriter
  readonly #channelDeps: ChannelDeps
  readonly #places = new Map<number, Place>()
  #starting: Promise<void> | undefined
  #isStopping = false
  readonly #endRests = new AbortController()
  /** Ends what is under way when all is stopped. It is sent again after the next start. */
  readonly #cut = new AbortController()
  #failureToldAt = Number.NEGATIVE_INFINITY
  #callOffGathering: (() => void) | undefined
  /** Undefined while no cursor may have moved: an idle service has nothing to write. */
  #callOffCursors: (() => void) | undefined

  constructor(deps: SenderDeps) {
    const { store, clock, chance, tell } = deps
    this.#deps = deps
    setMaxListeners(0, this.#cut.signal)
    this.#writer = new ProgressWriter({
      store,
      clock,
      onFailure: (error) => this.#tellFailure(error),
      onFree: () => this.#eachChannel((channel) => channel.pump()),
    })
    this.#channelDeps = {
      store,
      clock,
      chance,
      post: (message) => this.#post(message),
      slots: new Slots(requestsAtOnce),
      writer: this.#writer,
      tell,
      onFailure: (error) => this.#tellFailure(error),
      onRead: () => this.#keepCursorsSoon(),
      onPaused: (webhookNo) => this.changed(webhookNo),
    }
  }

  /** How many accept nothing. */
  get failing(): number {
    let count = 0
    this.#eachChannel((channel) => {
      if (channel.isFailing) count++
    })
    return count
  }

  start(): void {
    this.#deps.store.onEvents(() => this.noticeEvents())
    this.#starting = this.#openAll()
  }

  changed(webhookNo: number): void {
    if (this.#isStopping) return
    const place = this.#places.get(webhookNo) ?? { channel: undefined, again: false, work: undefined }
    this.#places.set(webhookNo, place)
    place.again = true
    place.work ??= this.#reopen(webhookNo, place)
  }

  /** There may be new ones, whoever's. */
  noticeEvents(): void {
    if (this.#isStopping || this.#places.size === 0) return
    const ms = Math.max(gatherMs, this.#places.size * msPerLook)
    this.#callOffGathering ??= this.#deps.clock.after(ms, () => {
      this.#callOffGathering = undefined
      this.#eachChannel((channel) => channel.noticeEvents())
    })
  }

  /** Takes up those that are its own by now, and leaves those that are not. */
  async lookAgain(): Promise<void> {
    const active = new Set(await this.#deps.store.listActiveWebhooks())
    const ours = new Set([...active].filter((webhookNo) => this.#deps.share?.isOurs(webhookNo) ?? true))
    for (const webhookNo of ours) if (!this.#places.has(webhookNo)) this.changed(webhookNo)
    for (const webhookNo of this.#places.keys()) if (!ours.has(webhookNo)) this.changed(webhookNo)
  }

  /** Whatever is open is closed, and opened again where it may be. */
  reopenAll(): void {
    for (const webhookNo of this.#places.keys()) this.changed(webhookNo)
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#endRests.abort()
    this.#writer.giveUpEarly()
    this.#callOffGathering?.()
    this.#callOffCursors?.()
    const timer = setTimeout(() => this.#cut.abort(), lastAnswersMs)
    await this.#starting
    await Promise.all(
      [...this.#places].map(async ([webhookNo, place]) => {
        await place.work
        await place.channel?.close()
        await this.#deps.share?.giveBack(webhookNo)
      }),
    )
    clearTimeout(timer)
    this.#deps.poster.close()
  }

  async #openAll(): Promise<void> {
    while (!this.#isStopping) {
      try {
        for (const webhookNo of await this.#deps.store.listActiveWebhooks()) this.changed(webhookNo)
        return
      } catch (error) {
        this.#tellFailure(error)
        await this.#rest()
      }
    }
  }

  async #reopen(webhookNo: number, place: Place): Promise<void> {
    while (place.again && !this.#isStopping) {
      place.again = false
      await place.channel?.close()
      place.channel = undefined
      try {
        place.channel = await this.#openChannel(webhookNo)
      } catch (error) {
        this.#tellFailure(error)
        place.again = true
        await this.#rest()
      }
    }
    place.work = undefined
    if (place.channel === undefined && !place.again) this.#places.delete(webhookNo)
  }

  async #openChannel(webhookNo: number): Promise<WebhookChannel | undefined> {
    const { share } = this.#deps
    if (share && !(await share.take(webhookNo))) return undefined
    const found = await this.#deps.store.getActiveWebhook({ webhookNo })
    if (found === undefined) {
      await share?.giveBack(webhookNo)
      return undefined
    }
    const channel = new WebhookChannel(this.#channelDeps, found.webhook, found.lastTried)
    await channel.open()
    return channel
  }

  /** Undefined also when it may be another node's by now: what is known here is too old to be sent. */
  async #post(message: Message): Promise<Answer | undefined> {
    if (this.#deps.share?.holds !== false) return this.#deps.poster.post(message, this.#cut.signal)
    this.reopenAll()
    return undefined
  }

  #keepCursorsSoon(): void {
    if (this.#isStopping) return
    this.#callOffCursors ??= this.#deps.clock.after(cursorsAfterMs, () => {
      this.#callOffCursors = undefined
      this.#eachChannel((channel) => channel.keepCursor())
    })
  }

  #eachChannel(call: (channel: WebhookChannel) => void): void {
    for (const { channel } of this.#places.values()) if (channel) call(channel)
  }

  /** While the storage cannot be used there would be many. */
  #tellFailure(error: unknown): void {
    const elapsed = this.#deps.clock.elapsed()
    if (elapsed - this.#failureToldAt < tellFailureEveryMs) return
    this.#failureToldAt = elapsed
    this.#deps.tell({ kind: 'webhooks-failed', error })
  }

  async #rest(): Promise<void> {
    await rest(restAfterFailureMs, undefined, { signal: this.#endRests.signal }).catch(() => undefined)
  }
}
