// Writes down how far webhooks have come. What comes in while a write is under way goes with the next one.

import type { WebhookProgress, WebhookStore } from '../../domain/ports/webhooks.ts'
import type { Clock } from './clock.ts'

export type ProgressSource = {
  takeProgress(): WebhookProgress
  /** It could not be written. */
  giveBack(progress: WebhookProgress): void
}

export type ProgressWriterDeps = {
  store: Pick<WebhookStore, 'recordAttempts'>
  clock: Clock
  onFailure: (error: unknown) => void
  /** Writing works again. */
  onFree: () => void
}

const restMs = 1000

export class ProgressWriter {
  readonly #deps: ProgressWriterDeps
  readonly #marked = new Set<ProgressSource>()
  readonly #beingWritten = new Set<ProgressSource>()
  #working: Promise<void> | undefined
  /** The write under way, or the rest after one that failed. */
  #turn: Promise<void> | undefined
  #isInHurry = false
  #endRest: () => void = () => undefined
  /** Nothing can be written for now, so nothing more should be sent. */
  isStuck = false

  constructor(deps: ProgressWriterDeps) {
    this.#deps = deps
  }

  mark(source: ProgressSource): void {
    this.#marked.add(source)
    this.#working ??= this.#work()
  }

  /** Resolves when all that was marked of this one is written. */
  async written(source: ProgressSource): Promise<void> {
    while (this.#working && (this.#marked.has(source) || this.#beingWritten.has(source))) await this.#turn
  }

  /** From now on what cannot be written is left: it is sent again after the next start. */
  giveUpEarly(): void {
    this.#isInHurry = true
    this.#endRest()
  }

  async #work(): Promise<void> {
    // Whatever is marked in one turn of the event loop goes together.
    await Promise.resolve()
    while (this.#marked.size > 0) {
      this.#turn = this.#writeSome()
      await this.#turn
      if (this.isStuck && this.#isInHurry) break
    }
    this.#working = undefined
  }

  /** All together; after a failure one by one, so that a bad one does not hold the others up. */
  async #writeSome(): Promise<void> {
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
      this.#deps.onFree()
    } catch (error) {
      this.#beingWritten.clear()
      for (const [index, source] of sources.entries()) {
        source.giveBack(taken[index] as WebhookProgress)
        this.#marked.add(source)
      }
      this.#deps.onFailure(error)
      this.isStuck = true
      if (!this.#isInHurry) await this.#rest()
    }
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#deps.clock.after(restMs, resolve)
      this.#endRest = () => {
        callOff()
        resolve()
      }
    })
  }
}
