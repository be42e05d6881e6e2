// When executions were handed to a connection and when a device confirmed them. Gathered and written together,
// after the triggers: a fan-out to a fleet would else be as many commits. What a crash takes is a time, no execution.

import type { Store } from '../domain/ports/store.ts'

const idsPerWrite = 1000
/** What is more than this is not noted: it means that the storage has been away for long. */
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
