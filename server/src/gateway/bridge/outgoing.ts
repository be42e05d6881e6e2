// Messages to the broker, within what it accepts unacknowledged, and within a limit of memory when it is slower than we are.

export type Outgoing = {
  topic: string
  payload: string
  /** Acknowledged by the broker, or refused. `hasReader`: as far as the broker says, somebody has subscribed to it. */
  onSettled?: (error: unknown, hasReader: boolean) => void
}

/** With MQTT 3.1.1 nobody says how many. */
export const defaultWindow = 1000
/** Notices wait in the store beyond this; answers cannot. */
const fewWaiting = 500
const maxWaitingBytes = 32 * 1024 * 1024

type OutgoingDeps = {
  /** Resolves once the broker has acknowledged it, perhaps on a later connection, with whether anybody reads it. */
  send(message: Outgoing): Promise<boolean>
  onRefused(message: Outgoing, error: unknown): void
  /** There is room for notices again. */
  onRoom(): void
}

export class OutgoingQueue {
  readonly #deps: OutgoingDeps
  #waiting: Outgoing[] = []
  #waitingBytes = 0
  #inFlight = 0
  #window = 0
  #wasFull = false
  dropped = 0
  sent = 0

  constructor(deps: OutgoingDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#waiting.length + this.#inFlight
  }

  get hasRoom(): boolean {
    const hasRoom = this.#window > 0 && this.#waiting.length < fewWaiting
    this.#wasFull ||= !hasRoom
    return hasRoom
  }

  /** The connection is up, for so many that are not acknowledged. */
  open(window: number): void {
    this.#window = Math.max(1, Math.min(window, defaultWindow))
    this.#pump()
    this.#tellRoom()
  }

  /** What was sent and not acknowledged is sent again by the client, and still counts. */
  close(): void {
    this.#window = 0
  }

  /** False: dropped, because too much waits. */
  push(message: Outgoing): boolean {
    if (this.#waitingBytes > maxWaitingBytes) {
      this.dropped++
      message.onSettled?.(new Error('too much waits for the broker'), false)
      return false
    }
    this.#waiting.push(message)
    this.#waitingBytes += sizeOf(message)
    this.#pump()
    return true
  }

  #pump(): void {
    let count = 0
    while (this.#inFlight < this.#window && count < this.#waiting.length) {
      const message = this.#waiting[count++] as Outgoing
      this.#waitingBytes -= sizeOf(message)
      this.#inFlight++
      void this.#send(message)
    }
    if (count > 0) this.#waiting.splice(0, count)
  }

  async #send(message: Outgoing): Promise<void> {
    try {
      const hasReader = await this.#deps.send(message)
      this.sent++
      message.onSettled?.(undefined, hasReader)
    } catch (error) {
      this.#deps.onRefused(message, error)
      message.onSettled?.(error, false)
    }
    this.#inFlight--
    this.#pump()
    this.#tellRoom()
  }

  #tellRoom(): void {
    if (!this.#wasFull || this.#window === 0 || this.#waiting.length > fewWaiting / 2) return
    this.#wasFull = false
    this.#deps.onRoom()
  }
}

function sizeOf({ topic, payload }: Outgoing): number {
  return 2 * (topic.length + payload.length)
}
