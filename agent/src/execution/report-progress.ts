// Reports a handler's progress: at most once a second, and only the latest value.

import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptKey } from '../state/attempt-key.ts'
import { type AskDeps, ask } from '../transport/ask.ts'
import { meansOver } from '../transport/transport.ts'
import type { Details } from './status-details.ts'
import { WakeUp } from './wake-up.ts'

const pauseMs = 1000

export class ProgressReporter {
  readonly #deps: AskDeps
  readonly #attempt: AttemptKey
  readonly #onOver: () => void
  readonly #stopping = new AbortController()
  readonly #wakeUp = new WakeUp()
  readonly #reporting: Promise<void>
  #details: Details | undefined

  /** `onOver` is called when the server says that the attempt is over. */
  constructor(deps: AskDeps, attempt: AttemptKey, onOver: () => void) {
    this.#deps = deps
    this.#attempt = attempt
    this.#onOver = onOver
    this.#reporting = this.#report().catch(() => undefined)
  }

  set(details: Details): void {
    this.#details = details
    this.#wakeUp.wake()
  }

  /** Progress not yet reported is sent with the outcome. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#reporting
  }

  async #report(): Promise<void> {
    const { jobId, attempt } = this.#attempt
    const { signal } = this.#stopping
    for (;;) {
      await this.#wakeUp.wait(signal)
      const statusDetails = this.#details
      const fields = { status: 'IN_PROGRESS', executionNumber: attempt, statusDetails }
      const answer = await ask(this.#deps, { name: 'update', jobId }, fields, signal)
      if (answer.outcome === 'rejected' && meansOver(answer.code)) this.#onOver()
      await sleep(pauseMs, undefined, { signal })
    }
  }
}
