// The MQTT transport: reconnects with a new link whenever one is lost.

import { setTimeout as sleep } from 'node:timers/promises'
import type { DeviceOperation } from '@jobcast/contract'
import { connectionReason } from '@jobcast/contract/words'
import type { Certificate } from '../device/read-certificate.ts'
import type { AgentEvent } from '../events.ts'
import { WakeUp } from '../execution/wake-up.ts'
import type { AttemptKey } from '../state/attempt-key.ts'
import { MqttLink, SignInRefused } from './mqtt-link.ts'
import { orAborted } from './or-aborted.ts'
import { type Backoff, reconnectDelayMs } from './reconnect-delay.ts'
import { type Answer, asObject, isOver, NoAnswer, type Transport } from './transport.ts'

export type MqttTransportOptions = {
  url: string
  deviceId: string
  /** Read for every connection, so that a replaced token takes effect without a restart. */
  readToken: () => string
  /** The prefix of topics on the user's own broker. */
  topicPrefix?: string | undefined
  /** Read for every connection, as the token. */
  readCertificate?: (() => Certificate) | undefined
  backoff: Backoff
  tell: (event: AgentEvent) => void
}

/** A connection that lasted this long resets the backoff; a shorter one may be two agents with the same device id. */
const stableMs = 10_000
/** Limit on remembered cancels of executions that this agent does not run. */
const maxKeptCancels = 100

type Watch = AttemptKey & { onCancel: (deadlineSeconds: number) => void }

export class MqttTransport implements Transport {
  readonly #options: MqttTransportOptions
  readonly #stopping = new AbortController()
  readonly #wakeUp = new WakeUp()
  readonly #watches = new Map<string, Watch>()
  /** Deadline seconds by jobId: a cancel may arrive before the agent watches the execution. */
  readonly #cancels = new Map<string, number>()
  #link: MqttLink | undefined
  #connected = Promise.withResolvers<void>()
  #running: Promise<void> | undefined

  constructor(options: MqttTransportOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#link?.close()
    await this.#running
  }

  ready(signal: AbortSignal): Promise<void> {
    return orAborted(this.#connected.promise, signal)
  }

  async request(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer> {
    if (this.#link === undefined) throw new NoAnswer('there is no connection')
    return this.#link.request(operation, fields)
  }

  waitForWork(signal: AbortSignal): Promise<void> {
    return this.#wakeUp.wait(signal)
  }

  watch(attempt: AttemptKey, onCancel: (deadlineSeconds: number) => void): () => void {
    const watch = { ...attempt, onCancel }
    this.#watches.set(attempt.jobId, watch)
    const deadlineSeconds = this.#cancels.get(attempt.jobId)
    if (deadlineSeconds !== undefined) onCancel(deadlineSeconds)
    return () => {
      if (this.#watches.get(attempt.jobId) === watch) this.#watches.delete(attempt.jobId)
    }
  }

  async #run(): Promise<void> {
    const { backoff } = this.#options
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; ) {
      const begunAt = performance.now()
      await this.#runLink(signal)
      failures = performance.now() - begunAt > stableMs ? 0 : failures + 1
      await sleep(reconnectDelayMs(failures, backoff), undefined, { signal }).catch(() => undefined)
    }
  }

  async #runLink(signal: AbortSignal): Promise<void> {
    const { url, deviceId, readToken, readCertificate, topicPrefix, tell } = this.#options
    try {
      const onMessage = (suffix: string, json: Record<string, unknown>) => this.#take(suffix, json)
      this.#cancels.clear()
      const signIn = { token: readToken(), certificate: readCertificate?.() }
      const link = await MqttLink.open({ url, deviceId, ...signIn, topicPrefix, onMessage }, signal)
      this.#link = link
      tell({ kind: 'connected', url })
      this.#connected.resolve()
      // Work, or the end of the running execution, may have been missed while disconnected.
      this.#wakeUp.wake()
      for (const watch of this.#watches.values()) void this.#checkWatch(watch)
      const reason = await link.closed
      if (!signal.aborted) tell({ kind: 'disconnected', reason })
    } catch (error) {
      if (signal.aborted) return
      const { message } = error as Error
      tell({
        kind: error instanceof SignInRefused ? 'sign-in-refused' : 'no-connection',
        url,
        reason: connectionReason(message),
      })
    } finally {
      if (this.#link !== undefined) this.#connected = Promise.withResolvers()
      this.#link = undefined
    }
  }

  /** A forced cancel or a time-out that happened while disconnected is not sent again. */
  async #checkWatch(watch: Watch): Promise<void> {
    const over = await isOver(this, watch).catch(() => false)
    if (over && this.#watches.get(watch.jobId) === watch) watch.onCancel(0)
  }

  #take(suffix: string, json: Record<string, unknown>): void {
    const [jobId = '', name] = suffix.split('/')
    if (suffix === 'notify-next' && json.execution !== undefined) this.#wakeUp.wake()
    if (suffix === 'start-next/accepted') this.#dropEnded(asObject(json.execution)?.jobId)
    if (name !== 'cancel') return
    const deadlineSeconds = typeof json.deadlineSeconds === 'number' ? json.deadlineSeconds : 0
    this.#cancels.set(jobId, deadlineSeconds)
    const [oldest] = this.#cancels.keys()
    if (this.#cancels.size > maxKeptCancels && oldest !== undefined) this.#cancels.delete(oldest)
    this.#watches.get(jobId)?.onCancel(deadlineSeconds)
  }

  /** An end received before the execution was handed out again belongs to its previous attempt. */
  #dropEnded(jobId: unknown): void {
    if (typeof jobId === 'string' && this.#cancels.get(jobId) === 0) this.#cancels.delete(jobId)
  }
}
