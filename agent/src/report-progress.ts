// Tells the server how far a handler is: at most once a second, and then only the latest.

import { setTimeout as rest } from 'node:timers/promises'
import { type AskDeps, ask } from './ask.ts'
import { News } from './news.ts'
import type { Details } from './status-details.ts'
import { type AttemptKey, meansOver } from './transport.ts'

const pauseMs = 1000

export class ProgressReporter {
  readonly #deps: AskDeps
  readonly #attempt: AttemptKey
  readonly #onOver: () => void
  readonly #stopping = new AbortController()
  readonly #news = new News()
  readonly #reporting: Promise<void>
  #details: Details | undefined

  /** `onOver`: the server says that nobody waits for this attempt any more. */
  constructor(deps: AskDeps, attempt: AttemptKey, onOver: () => void) {
    this.#deps = deps
    this.#attempt = attempt
    this.#onOver = onOver
    this.#reporting = this.#report().catch(() => undefined)
  }

  set(details: Details): void {
    this.#details = details
    this.#news.tell()
  }

  /** What was not said by now is said with the outcome. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#reporting
  }

  async #report(): Promise<void> {
    const { jobId, attempt } = this.#attempt
    const { signal } = this.#stopping
    for (;;) {
      await this.#news.wait(signal)
      const statusDetails = this.#details
      const fields = { status: 'IN_PROGRESS', executionNumber: attempt, statusDetails }
      const answer = await ask(this.#deps, { name: 'update', jobId }, fields, signal)
      if (answer.outcome === 'rejected' && meansOver(answer.code)) this.#onOver()
      await rest(pauseMs, undefined, { signal })
    }
  }
}
