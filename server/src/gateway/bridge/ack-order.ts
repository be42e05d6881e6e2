/**
 * Acknowledges the messages of one connection in the order they arrived, as MQTT requires, whichever is done first. Sends
 * nothing once the connection is lost: the broker then resends unacknowledged messages under new packet identifiers.
 */
export class AckOrder {
  readonly #send: (messageId: number) => void
  #waiting: { messageId: number; since: number; isDone: boolean }[] = []
  #isClosed = false

  constructor(send: (messageId: number) => void) {
    this.#send = send
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get size(): number {
    return this.#waiting.length
  }

  /** When the oldest unacknowledged message arrived. */
  get oldest(): number | undefined {
    return this.#waiting[0]?.since
  }

  /** Returns a function to call once the message is on disk. */
  add(messageId: number, since: number): () => void {
    const entry = { messageId, since, isDone: false }
    this.#waiting.push(entry)
    return () => {
      entry.isDone = true
      this.#flush()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#waiting = []
  }

  #flush(): void {
    let done = 0
    while (this.#waiting[done]?.isDone) done++
    if (done === 0) return
    for (const { messageId } of this.#waiting.splice(0, done)) this.#send(messageId)
  }
}
