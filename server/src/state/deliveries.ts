// When executions were sent to a connection and when the device acknowledged them. Buffered and written in batches:
// otherwise a fan-out would cost one commit per device. A crash loses timestamps, never an execution.

import type { Store } from '../domain/common/ports/store.ts'

const idsPerWrite = 1000
/** Entries above this are dropped: the storage has been unavailable for a long time. */
const maxWaiting = 1_000_000

export class Deliveries {
  readonly #store: Pick<Store, 'recordDeliveries'>
  readonly #now: () => number
  #notified: number[] = []
  #delivered: number[] = []

  constructor(store: Pick<Store, 'recordDeliveries'>, now: () => number) {
    this.#store = store
    this.#now = now
  }

  notified(jobExecutionId: number): void {
    if (this.#notified.length < maxWaiting) this.#notified.push(jobExecutionId)
  }

  delivered(jobExecutionIds: readonly number[]): void {
    if (this.#delivered.length < maxWaiting) this.#delivered.push(...jobExecutionIds)
  }

  async record(): Promise<void> {
    while (this.#notified.length + this.#delivered.length > 0) {
      const notified = this.#notified.slice(0, idsPerWrite)
      const delivered = this.#delivered.slice(0, idsPerWrite)
      await this.#store.recordDeliveries({ notified, delivered, at: this.#now() })
      this.#notified = this.#notified.slice(notified.length)
      this.#delivered = this.#delivered.slice(delivered.length)
    }
  }
}
