// By MQTT: one link after the other, for as long as the agent lives.

import { setTimeout as rest } from 'node:timers/promises'
import type { DeviceOperation } from '@jobcast/contract'
import type { AgentEvent } from './events.ts'
import { MqttLink, SignInRefused } from './mqtt-link.ts'
import { News } from './news.ts'
import { orAborted } from './or-aborted.ts'
import { type Backoff, reconnectDelayMs } from './reconnect-delay.ts'
import { type Answer, type AttemptKey, asObject, isOver, NoAnswer, type Transport } from './transport.ts'

export type MqttTransportOptions = {
  url: string
  deviceId: string
  /** Asked for every connection: a token that was replaced is found without a restart. */
  readToken: () => string
  backoff: Backoff
  tell: (event: AgentEvent) => void
}

/** A connection that lasted so long counts as a good one; before that it may be a fight over the device's name. */
const stableMs = 10_000
/** Notices of executions that this agent does not work on are soon forgotten. */
const rememberedCancels = 100

type Watch = AttemptKey & { onCancel: (deadlineSeconds: number) => void }

export class MqttTransport implements Transport {
  readonly #options: MqttTransportOptions
  readonly #stopping = new AbortController()
  readonly #news = new News()
  readonly #watches = new Map<string, Watch>()
  /** By jobId, the seconds that a cancel has left: it may come before the agent has begun to watch. */
  readonly #cancels = new Map<string, number>()
  #link: MqttLink | undefined
  #connected = Promise.withResolvers<void>()
  #living: Promise<void> | undefined

  constructor(options: MqttTransportOptions) {
    this.#options = options
  }

  start(): void {
    this.#living ??= this.#live()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#link?.close()
    await this.#living
  }

  ready(signal: AbortSignal): Promise<void> {
    return orAborted(this.#connected.promise, signal)
  }

  async request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer> {
    if (this.#link === undefined) throw new NoAnswer('there is no connection')
    return this.#link.request(operation, fields)
  }

  waitForWork(signal: AbortSignal): Promise<void> {
    return this.#news.wait(signal)
  }

  watch(attempt: AttemptKey, onCancel: (deadlineSeconds: number) => void): () => void {
    const watch = { ...attempt, onCancel }
    this.#watches.set(attempt.jobId, watch)
    const known = this.#cancels.get(attempt.jobId)
    if (known !== undefined) onCancel(known)
    return () => {
      if (this.#watches.get(attempt.jobId) === watch) this.#watches.delete(attempt.jobId)
    }
  }

  async #live(): Promise<void> {
    const { backoff } = this.#options
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; ) {
      const begunAt = performance.now()
      await this.#liveOnce(signal)
      failures = performance.now() - begunAt > stableMs ? 0 : failures + 1
      await rest(reconnectDelayMs(failures, backoff), undefined, { signal }).catch(() => undefined)
    }
  }

  async #liveOnce(signal: AbortSignal): Promise<void> {
    const { url, deviceId, readToken, tell } = this.#options
    try {
      const onMessage = (suffix: string, json: Record<string, unknown>) => this.#take(suffix, json)
      this.#cancels.clear()
      const link = await MqttLink.open({ url, deviceId, token: readToken(), onMessage }, signal)
      this.#link = link
      tell({ kind: 'connected', url })
      this.#connected.resolve()
      // What was missed meanwhile may be work, or the end of work.
      this.#news.tell()
      for (const watch of this.#watches.values()) void this.#checkWatch(watch)
      const reason = await link.closed
      if (!signal.aborted) tell({ kind: 'disconnected', reason })
    } catch (error) {
      if (signal.aborted) return
      const { message } = error as Error
      tell({
        kind: error instanceof SignInRefused ? 'sign-in-refused' : 'no-connection',
        url,
        reason: message,
      })
    } finally {
      if (this.#link !== undefined) this.#connected = Promise.withResolvers()
      this.#link = undefined
    }
  }

  /** A cancel by force, or a time-out, that came while there was no connection leaves no message. */
  async #checkWatch(watch: Watch): Promise<void> {
    const over = await isOver(this, watch).catch(() => false)
    if (over && this.#watches.get(watch.jobId) === watch) watch.onCancel(0)
  }

  #take(suffix: string, json: Record<string, unknown>): void {
    const [jobId = '', name] = suffix.split('/')
    if (suffix === 'notify-next' && json.execution !== undefined) this.#news.tell()
    if (suffix === 'start-next/accepted') this.#forgetEnded(asObject(json.execution)?.jobId)
    if (name !== 'cancel') return
    const deadlineSeconds = typeof json.deadlineSeconds === 'number' ? json.deadlineSeconds : 0
    this.#cancels.set(jobId, deadlineSeconds)
    const [oldest] = this.#cancels.keys()
    if (this.#cancels.size > rememberedCancels && oldest !== undefined) this.#cancels.delete(oldest)
    this.#watches.get(jobId)?.onCancel(deadlineSeconds)
  }

  /** What was over before it was handed out was the attempt before it. A cancel is followed by no other attempt. */
  #forgetEnded(jobId: unknown): void {
    if (typeof jobId === 'string' && this.#cancels.get(jobId) === 0) this.#cancels.delete(jobId)
  }
}
