/** Lets so many connect at once; the others wait in line. */
export class ConnectGate {
  #free: number
  readonly #waiting: ((leave: () => void) => void)[] = []
  #served = 0

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Whoever was let in calls `leave`, however it went; a second call does nothing. */
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
    // Not one shift for each: an array of ten thousand would be moved as often.
    if (this.#served === this.#waiting.length) {
      this.#waiting.length = 0
      this.#served = 0
    }
  }
}
