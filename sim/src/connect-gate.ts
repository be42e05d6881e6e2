/** Limits how many devices connect at the same time; the others queue. */
export class ConnectGate {
  #free: number
  readonly #waiting: ((leave: () => void) => void)[] = []
  #served = 0

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** After entering, always call `leave`, also after a failure; a second call does nothing. */
  enter(connect: (leave: () => void) => void): void {
    this.#waiting.push(connect)
    this.#letIn()
  }

  #letIn(): void {
    while (this.#free > 0 && this.#served < this.#waiting.length) {
      const connect = this.#waiting[this.#served++]
      this.#free--
      let isInside = true
      connect?.(() => {
        if (!isInside) return
        isInside = false
        this.#free++
        this.#letIn()
      })
    }
    // Cleared once at the end: a shift per device would move an array of ten thousand each time.
    if (this.#served === this.#waiting.length) {
      this.#waiting.length = 0
      this.#served = 0
    }
  }
}
