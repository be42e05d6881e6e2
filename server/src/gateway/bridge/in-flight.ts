// Unacknowledged messages by packet identifier, in the order they were sent.

/** mqtt.js has the identifier behind it. */
export const lastPacketId = 0xfffe

export class InFlight<Message> {
  readonly #messages = new Map<number, Message>()
  #lastId = 0

  get size(): number {
    return this.#messages.size
  }

  /** There are always far fewer messages in flight than identifiers. */
  freeId(): number {
    do this.#lastId = (this.#lastId % lastPacketId) + 1
    while (this.#messages.has(this.#lastId))
    return this.#lastId
  }

  add(packetId: number, message: Message): void {
    this.#messages.set(packetId, message)
  }

  take(packetId: number): Message | undefined {
    const message = this.#messages.get(packetId)
    this.#messages.delete(packetId)
    return message
  }

  takeAll(): [number, Message][] {
    const all = [...this.#messages]
    this.#messages.clear()
    return all
  }

  takeLargest(sizeOf: (message: Message) => number): Message | undefined {
    let largest: [number, Message] | undefined
    for (const each of this.#messages)
      if (largest === undefined || sizeOf(each[1]) > sizeOf(largest[1])) largest = each
    return largest && this.take(largest[0])
  }
}
