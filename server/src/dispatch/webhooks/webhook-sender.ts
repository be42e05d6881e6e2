// Delivers webhooks, with one channel for each that is not paused. When a webhook changes in any way, its channel is
// closed and reopened from the store.

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WebhookTestResult } from '@jobcast/contract'
import { isUnderstood } from '../../domain/access/restriction.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import type { WebhookLink } from '../../domain/webhook/webhook.ts'
import type { Tell } from '../../observe/events.ts'
import type { Clock } from './clock.ts'
import type { Answer, EventPoster } from './event-poster.ts'
import { ProgressWriter } from './progress-writer.ts'
import { sendTest } from './send-test.ts'
import type { Message } from './sign-event.ts'
import { Slots } from './slots.ts'
import { type ChannelDeps, WebhookChannel } from './webhook-channel.ts'
import type { WebhookShare } from './webhook-share.ts'

type SenderDeps = {
  store: Store
  clock: Clock
  /** From 0 to 1. */
  chance: () => number
  poster: Pick<EventPoster, 'post' | 'close'>
  tell: Tell
  /** The URL of the console, for links in messages. */
  publicUrl?: string | undefined
  /** In a cluster: which webhooks belong to this node. */
  share?: WebhookShare | undefined
}

const requestsAtOnce = 256
/** New events are collected for this long: each webhook polls at most twenty times a second… */
const gatherMs = 50
/** …and all webhooks together at most a thousand times. */
const msPerPoll = 1
/** Delay before writing the cursors, of all webhooks together, that advanced without a delivery. */
const cursorsAfterMs = 30_000
const failureDelayMs = 1000
const reportFailureEveryMs = 10_000
/** On shutdown, running requests get this long. */
const shutdownGraceMs = 3000

/** `isStale`: the webhook has changed since the reopening began. */
type ChannelEntry = {
  channel: WebhookChannel | undefined
  isStale: boolean
  reopening: Promise<void> | undefined
}

export class WebhookSender implements WebhookLink {
  readonly #deps: SenderDeps
  readonly #writer: ProgressWriter
  readonly #channelDeps: ChannelDeps
  readonly #channels = new Map<number, ChannelEntry>()
  #starting: Promise<void> | undefined
  #isStopping = false
  readonly #endDelays = new AbortController()
  /** Aborts running requests on shutdown. Their events are sent again after the next start. */
  readonly #abort = new AbortController()
  #failureReportedAt = Number.NEGATIVE_INFINITY
  #cancelGathering: (() => void) | undefined
  /** Undefined while no cursor may have advanced: an idle service writes nothing. */
  #cancelCursorWrite: (() => void) | undefined

  constructor(deps: SenderDeps) {
    const { store, clock, chance, tell, publicUrl } = deps
    this.#deps = deps
    setMaxListeners(0, this.#abort.signal)
    this.#writer = new ProgressWriter({
      store,
      clock,
      onFailure: (error) => this.#reportFailure(error),
      onRecovered: () => this.#eachChannel((channel) => channel.pump()),
    })
    this.#channelDeps = {
      store,
      clock,
      chance,
      post: (message) => this.#post(message),
      slots: new Slots(requestsAtOnce),
      writer: this.#writer,
      tell,
      publicUrl,
      onFailure: (error) => this.#reportFailure(error),
      onRead: () => this.#writeCursorsSoon(),
      onPaused: (webhookNo) => this.changed(webhookNo),
    }
  }

  /** How many webhooks have a failing receiver. */
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
    const entry = this.#channels.get(webhookNo) ?? {
      channel: undefined,
      isStale: false,
      reopening: undefined,
    }
    this.#channels.set(webhookNo, entry)
    entry.isStale = true
    entry.reopening ??= this.#reopen(webhookNo, entry)
  }

  /** Any node can send a test, even for a webhook that is paused or belongs to another node, because it changes no state. */
  test(webhook: StoredWebhook): Promise<WebhookTestResult> {
    const { clock, tell, poster, publicUrl } = this.#deps
    const post = (message: Message) => poster.post(message, this.#abort.signal)
    return sendTest({ clock, tell, post, publicUrl, slots: this.#channelDeps.slots }, webhook)
  }

  /** There may be new events, of any owner. */
  noticeEvents(): void {
    if (this.#isStopping || this.#channels.size === 0) return
    const ms = Math.max(gatherMs, this.#channels.size * msPerPoll)
    this.#cancelGathering ??= this.#deps.clock.after(ms, () => {
      this.#cancelGathering = undefined
      this.#eachChannel((channel) => channel.noticeEvents())
    })
  }

  /** Opens webhooks that now belong to this node, reopens those that were changed, and closes those that no longer do. */
  async rebalance(): Promise<void> {
    const active = await this.#deps.store.listActiveWebhooks()
    const ours = new Map(
      active
        .filter(({ webhookNo }) => this.#deps.share?.isOurs(webhookNo) ?? true)
        .map(({ webhookNo, updatedAt }) => [webhookNo, updatedAt]),
    )
    for (const webhookNo of ours.keys()) if (!this.#channels.has(webhookNo)) this.changed(webhookNo)
    for (const [webhookNo, { channel }] of this.#channels) {
      // Another node may have changed it, and its hint may have been lost.
      const isChanged = channel !== undefined && channel.updatedAt !== ours.get(webhookNo)
      if (isChanged || !ours.has(webhookNo)) this.changed(webhookNo)
    }
  }

  /** Closes all channels and reopens those that still belong to this node. */
  reopenAll(): void {
    for (const webhookNo of this.#channels.keys()) this.changed(webhookNo)
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#endDelays.abort()
    this.#writer.stopRetrying()
    this.#cancelGathering?.()
    this.#cancelCursorWrite?.()
    const timer = setTimeout(() => this.#abort.abort(), shutdownGraceMs)
    await this.#starting
    await Promise.all(
      [...this.#channels].map(async ([webhookNo, entry]) => {
        await entry.reopening
        await entry.channel?.close()
        await this.#deps.share?.giveBack(webhookNo)
      }),
    )
    clearTimeout(timer)
    this.#deps.poster.close()
  }

  async #openAll(): Promise<void> {
    while (!this.#isStopping) {
      try {
        for (const { webhookNo } of await this.#deps.store.listActiveWebhooks()) this.changed(webhookNo)
        return
      } catch (error) {
        this.#reportFailure(error)
        await this.#delay()
      }
    }
  }

  async #reopen(webhookNo: number, entry: ChannelEntry): Promise<void> {
    while (entry.isStale && !this.#isStopping) {
      entry.isStale = false
      await entry.channel?.close()
      entry.channel = undefined
      try {
        entry.channel = await this.#openChannel(webhookNo)
      } catch (error) {
        this.#reportFailure(error)
        entry.isStale = true
        await this.#delay()
      }
    }
    entry.reopening = undefined
    if (entry.channel === undefined && !entry.isStale) this.#channels.delete(webhookNo)
  }

  async #openChannel(webhookNo: number): Promise<WebhookChannel | undefined> {
    const { share } = this.#deps
    if (share && !(await share.take(webhookNo))) return undefined
    const found = await this.#deps.store.getActiveWebhook({ webhookNo })
    // A newer version has stored a restriction that this one cannot apply.
    if (found === undefined || !isUnderstood(found.webhook)) {
      await share?.giveBack(webhookNo)
      return undefined
    }
    const channel = new WebhookChannel(this.#channelDeps, found.webhook, found.lastTried)
    await channel.open()
    return channel
  }

  /** Undefined also if another node may own the webhook by now: this node's state is too old to send from. */
  async #post(message: Message): Promise<Answer | undefined> {
    if (this.#deps.share?.holds !== false) return this.#deps.poster.post(message, this.#abort.signal)
    this.reopenAll()
    return undefined
  }

  #writeCursorsSoon(): void {
    if (this.#isStopping) return
    this.#cancelCursorWrite ??= this.#deps.clock.after(cursorsAfterMs, () => {
      this.#cancelCursorWrite = undefined
      this.#eachChannel((channel) => channel.writeCursor())
    })
  }

  #eachChannel(call: (channel: WebhookChannel) => void): void {
    for (const { channel } of this.#channels.values()) if (channel) call(channel)
  }

  /** Rate-limited: while the storage is unavailable, every channel fails. */
  #reportFailure(error: unknown): void {
    const elapsed = this.#deps.clock.elapsed()
    if (elapsed - this.#failureReportedAt < reportFailureEveryMs) return
    this.#failureReportedAt = elapsed
    this.#deps.tell({ kind: 'webhooks-failed', error })
  }

  async #delay(): Promise<void> {
    await sleep(failureDelayMs, undefined, { signal: this.#endDelays.signal }).catch(() => undefined)
  }
}
