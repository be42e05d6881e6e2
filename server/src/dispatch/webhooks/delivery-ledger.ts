// What became of a webhook's attempts, until it is written down.

import type { DeliveryState, PauseReason } from '@jobcast/contract'
import type {
  AttemptResult,
  StoredAttempt,
  StoredWebhook,
  WebhookProgress,
} from '../../domain/ports/webhooks.ts'
import type { Entry } from './lanes.ts'
import type { ProgressSource, ProgressWriter } from './progress-writer.ts'

/** What is true when it is written down. */
export type Standing = { cursor: number; failingSince: number | null | undefined }

export class DeliveryLedger implements ProgressSource {
  readonly #writer: ProgressWriter
  readonly #webhook: StoredWebhook
  readonly #standing: () => Standing
  #results: AttemptResult[] = []
  #lastDeliveredAt: number | undefined
  #pause: WebhookProgress['pause']
  #writtenCursor: number

  constructor(writer: ProgressWriter, webhook: StoredWebhook, standing: () => Standing) {
    this.#writer = writer
    this.#webhook = webhook
    this.#standing = standing
    this.#writtenCursor = webhook.cursor
  }

  note(entry: Entry, state: DeliveryState, attempt: StoredAttempt, nextAt: number | null): void {
    const { eventId, type, subject, tries } = entry
    this.#results.push({ eventId, type, subject, tries, state, attempt, nextAt })
    if (state === 'DELIVERED') this.#lastDeliveredAt = attempt.at
    this.#writer.mark(this)
  }

  /** Resolves when it is written down. */
  pause(because: PauseReason, at: number): Promise<void> {
    this.#pause = { because, at }
    this.#writer.mark(this)
    return this.written()
  }

  written(): Promise<void> {
    return this.#writer.written(this)
  }

  /** A webhook that lets few events through moves on without a word. */
  keepCursor(): void {
    if (this.#standing().cursor !== this.#writtenCursor) this.#writer.mark(this)
  }

  takeProgress(): WebhookProgress {
    const { webhookNo, round } = this.#webhook
    const standing = this.#standing()
    this.#writtenCursor = standing.cursor
    const results = this.#results
    this.#results = []
    return {
      webhookNo,
      round,
      ...standing,
      results,
      lastDeliveredAt: this.#lastDeliveredAt,
      pause: this.#pause,
    }
  }

  giveBack({ results }: WebhookProgress): void {
    this.#results = [...results, ...this.#results]
  }
}
