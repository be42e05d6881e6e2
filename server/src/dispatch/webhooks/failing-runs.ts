// Which runs a chat webhook has reported as failing, so that only the first failure of each is sent.

import type { Store } from '../../domain/common/ports/store.ts'
import type { StoredEvent } from '../../domain/event/event.ts'
import { failingRunOf } from '../../domain/webhook/first-failure.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'

/** Older runs are looked up in the delivery log, as after a restart. */
const maxRemembered = 10_000

export class FailingRuns {
  readonly #store: Pick<Store, 'isRunReported'>
  readonly #webhook: StoredWebhook
  readonly #reported = new Set<number>()

  constructor(store: Pick<Store, 'isRunReported'>, webhook: StoredWebhook) {
    this.#store = store
    this.#webhook = webhook
  }

  /** Drops events of runs that were already reported, including by an earlier one of these events. */
  async firstOf(events: StoredEvent[]): Promise<StoredEvent[]> {
    const { webhookNo, round } = this.#webhook
    const before = new Set<number>()
    const first: StoredEvent[] = []
    for (const event of events) {
      const runId = failingRunOf(this.#webhook, event)
      if (runId !== undefined) {
        const isReported = before.has(runId) || this.#reported.has(runId)
        before.add(runId)
        if (isReported || (await this.#store.isRunReported({ webhookNo, round, runId }))) continue
      }
      first.push(event)
    }
    return first
  }

  /** Call when the events of a page are queued: a failed read before that is repeated. */
  remember(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const runId = failingRunOf(this.#webhook, event)
      if (runId !== undefined) this.#reported.add(runId)
    }
    for (const runId of this.#reported) {
      if (this.#reported.size <= maxRemembered) return
      this.#reported.delete(runId)
    }
  }
}
