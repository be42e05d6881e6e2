// Results of a webhook's delivery attempts, buffered until they are written to the store.

import type { DeliveryState, PauseReason } from '@jobcast/contract'
import type {
  AttemptResult,
  StoredAttempt,
  StoredWebhook,
  WebhookProgress,
} from '../../domain/webhook/ports/webhooks.ts'
import type { ProgressSource, ProgressWriter } from './progress-writer.ts'
import type { Entry } from './subject-queues.ts'

/** Read at the time of the write. */
type ChannelState = { cursor: number; failingSince: number | null | undefined }

export class DeliveryLedger implements ProgressSource {
  readonly #writer: ProgressWriter
  readonly #webhook: StoredWebhook
  readonly #state: () => ChannelState
  #results: AttemptResult[] = []
  #lastDeliveredAt: number | undefined
  #pause: WebhookProgress['pause']
  #writtenCursor: number

  constructor(writer: ProgressWriter, webhook: StoredWebhook, state: () => ChannelState) {
    this.#writer = writer
    this.#webhook = webhook
    this.#state = state
    this.#writtenCursor = webhook.cursor
  }

  record(entry: Entry, state: DeliveryState, attempt: StoredAttempt, nextAt: number | null): void {
    const { eventId, type, subject, tries } = entry
    this.#results.push({ eventId, type, subject, tries, state, attempt, nextAt })
    if (state === 'DELIVERED') this.#lastDeliveredAt = attempt.at
    this.#writer.mark(this)
  }

  /** Resolves when the pause is stored. */
  pause(because: PauseReason, at: number): Promise<void> {
    this.#pause = { because, at }
    this.#writer.mark(this)
    return this.written()
  }

  written(): Promise<void> {
    return this.#writer.written(this)
  }

  /** A webhook whose filter matches few events advances its cursor without any delivery. */
  writeCursor(): void {
    if (this.#state().cursor !== this.#writtenCursor) this.#writer.mark(this)
  }

  takeProgress(): WebhookProgress {
    const { webhookNo, round } = this.#webhook
    const state = this.#state()
    this.#writtenCursor = state.cursor
    const results = this.#results
    this.#results = []
    return {
      webhookNo,
      round,
      ...state,
      results,
      lastDeliveredAt: this.#lastDeliveredAt,
      pause: this.#pause,
    }
  }

  restoreProgress({ results }: WebhookProgress): void {
    this.#results = [...results, ...this.#results]
  }
}
