// Writes the progress of webhooks to the store. Progress marked during a write goes into the next one.

import type { WebhookProgress, WebhookStore } from '../../domain/webhook/ports/webhooks.ts'
import type { Clock } from './clock.ts'

export type ProgressSource = {
  takeProgress(): WebhookProgress
  /** The write failed: include this progress in the next one. */
  restoreProgress(progress: WebhookProgress): void
}

type ProgressWriterDeps = {
  store: Pick<WebhookStore, 'recordAttempts'>
  clock: Clock
  onFailure: (error: unknown) => void
  /** Writes succeed again. */
  onRecovered: () => void
}

const retryDelayMs = 1000

export class ProgressWriter {
  readonly #deps: ProgressWriterDeps
  readonly #marked = new Set<ProgressSource>()
  readonly #beingWritten = new Set<ProgressSource>()
  #working: Promise<void> | undefined
  /** The current write, including the delay after an unsuccessful one. */
  #currentWrite: Promise<void> | undefined
  #isStopping = false
  #endDelay: () => void = () => undefined
  /** Writes fail at the moment, so nothing more should be sent. */
  isStuck = false

  constructor(deps: ProgressWriterDeps) {
    this.#deps = deps
  }

  mark(source: ProgressSource): void {
    this.#marked.add(source)
    this.#working ??= this.#work()
  }

  /** Resolves when all progress marked for this source is written. */
  async written(source: ProgressSource): Promise<void> {
    while (this.#working && (this.#marked.has(source) || this.#beingWritten.has(source)))
      await this.#currentWrite
  }

  /** From now on, a failed write is not retried: those events are sent again after the next start. */
  stopRetrying(): void {
    this.#isStopping = true
    this.#endDelay()
  }

  async #work(): Promise<void> {
    // Sources marked in the same turn of the event loop are written together.
    await Promise.resolve()
    while (this.#marked.size > 0) {
      this.#currentWrite = this.#writeBatch()
      await this.#currentWrite
      if (this.isStuck && this.#isStopping) break
    }
    this.#working = undefined
  }

  /** All together; one at a time after a failure, so that one bad source does not block the others. */
  async #writeBatch(): Promise<void> {
    const all = [...this.#marked]
    const sources = this.isStuck ? all.slice(0, 1) : all
    for (const source of sources) this.#marked.delete(source)
    for (const source of sources) this.#beingWritten.add(source)
    const taken = sources.map((source) => source.takeProgress())
    try {
      await this.#deps.store.recordAttempts(taken)
      this.#beingWritten.clear()
      if (!this.isStuck) return
      this.isStuck = false
      this.#deps.onRecovered()
    } catch (error) {
      this.#beingWritten.clear()
      for (const [index, source] of sources.entries()) {
        source.restoreProgress(taken[index] as WebhookProgress)
        this.#marked.add(source)
      }
      this.#deps.onFailure(error)
      this.isStuck = true
      if (!this.#isStopping) await this.#delay()
    }
  }

  #delay(): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = this.#deps.clock.after(retryDelayMs, resolve)
      this.#endDelay = () => {
        cancelTimer()
        resolve()
      }
    })
  }
}
