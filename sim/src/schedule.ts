// One clock for a whole fleet: a heap of what is due, and a single timer for the first of it.

export type Appointment = { readonly at: number; act: (() => void) | undefined }

/** What falls due within the same few milliseconds is done in one go. */
const leastWaitMs = 10

export class Schedule {
  readonly #heap: Appointment[] = []
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #isStopped = false

  after(ms: number, act: () => void): Appointment {
    const appointment = { at: performance.now() + ms, act }
    if (this.#isStopped) return appointment
    this.#push(appointment)
    this.#arm()
    return appointment
  }

  /** It stays in the heap until it is due, and does nothing then. */
  cancel(appointment: Appointment | undefined): void {
    if (appointment) appointment.act = undefined
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#heap.length = 0
  }

  #arm(): void {
    const first = this.#heap[0]
    if (first === undefined || first.at >= this.#timerAt) return
    clearTimeout(this.#timer)
    const waitMs = Math.max(leastWaitMs, first.at - performance.now())
    this.#timerAt = performance.now() + waitMs
    this.#timer = setTimeout(() => this.#act(), waitMs)
  }

  #act(): void {
    this.#timerAt = Number.POSITIVE_INFINITY
    // Read once: what is due only after this moment waits for the next go, so sockets get their turn.
    const now = performance.now()
    for (let first = this.#heap[0]; first && first.at <= now; first = this.#heap[0]) {
      this.#removeFirst()
      first.act?.()
    }
    this.#arm()
  }

  #push(appointment: Appointment): void {
    let place = this.#heap.push(appointment) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (this.#at(parent) <= appointment.at) break
      this.#swap(place, parent)
      place = parent
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop() as Appointment
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    for (let place = 0; ; ) {
      const left = 2 * place + 1
      const smaller = this.#at(left + 1) < this.#at(left) ? left + 1 : left
      if (this.#at(smaller) >= last.at) return
      this.#swap(place, smaller)
      place = smaller
    }
  }

  #at(place: number): number {
    return this.#heap[place]?.at ?? Number.POSITIVE_INFINITY
  }

  #swap(one: number, other: number): void {
    const kept = this.#heap[one] as Appointment
    this.#heap[one] = this.#heap[other] as Appointment
    this.#heap[other] = kept
  }
}
