/**
 * What came on one connection and is not served yet. MQTT 5 alone lets us say how many messages may come, and only of QoS 1, so
 * beyond a limit nothing more is read: then the broker waits, by TCP.
 */
export class Intake {
  readonly #most: { messages: number; bytes: number }
  #messages = 0
  #bytes = 0
  #next: (() => void) | undefined

  constructor(most: { messages: number; bytes: number }) {
    this.#most = most
  }

  /** From 0 to 1 and above. */
  get load(): number {
    return Math.max(this.#messages / this.#most.messages, this.#bytes / this.#most.bytes)
  }

  /** Call what it gives once the message is served. */
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

  /** Calls it when there is room for another message: at once, or later. One waits at a time. */
  whenRoom(next: () => void): void {
    if (this.#hasRoom) next()
    else this.#next = next
  }

  get #hasRoom(): boolean {
    return this.#messages < this.#most.messages && this.#bytes < this.#most.bytes
  }
}
