/**
 * Limits the messages of one connection that are in progress. Only MQTT 5 lets a client limit them, and only those of QoS 1, so
 * beyond this limit reading pauses, and TCP makes the broker wait.
 */
export class Intake {
  readonly #most: { messages: number; bytes: number }
  #messages = 0
  #bytes = 0
  #next: (() => void) | undefined

  constructor(most: { messages: number; bytes: number }) {
    this.#most = most
  }

  /** The used share of the limit; may exceed 1. */
  get load(): number {
    return Math.max(this.#messages / this.#most.messages, this.#bytes / this.#most.bytes)
  }

  /** Returns a function to call once the message is served. */
  add(bytes: number): () => void {
    let isOpen = true
    this.#messages++
    this.#bytes += bytes
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#messages--
      this.#bytes -= bytes
      const next = this.#next
      if (next === undefined || !this.#hasRoom) return
      this.#next = undefined
      next()
    }
  }

  /** Calls `next` when there is room for another message: at once, or later. Only one callback can wait. */
  whenRoom(next: () => void): void {
    if (this.#hasRoom) next()
    else this.#next = next
  }

  get #hasRoom(): boolean {
    return this.#messages < this.#most.messages && this.#bytes < this.#most.bytes
  }
}
