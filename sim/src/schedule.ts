// One scheduler for the fleet: a heap of appointments, and a single timer for the earliest.

export type Appointment = { readonly at: number; act: (() => void) | undefined }

/** Appointments due within the same few milliseconds run together. */
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

  /** It stays in the heap until it is due, and then does nothing. */
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
    // Read once: appointments that become due meanwhile wait for the next run, so that sockets get their turn.
    const now = performance.now()
    for (let first = this.#heap[0]; first && first.at <= now; first = this.#heap[0]) {
      this.#removeFirst()
      first.act?.()
    }
    this.#arm()
  }

  #push(appointment: Appointment): void {
    let index = this.#heap.push(appointment) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#at(parent) <= appointment.at) break
      this.#swap(index, parent)
      index = parent
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop() as Appointment
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    for (let index = 0; ; ) {
      const left = 2 * index + 1
      const smaller = this.#at(left + 1) < this.#at(left) ? left + 1 : left
      if (this.#at(smaller) >= last.at) return
      this.#swap(index, smaller)
      index = smaller
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY
  }

  #swap(one: number, other: number): void {
    const kept = this.#heap[one] as Appointment
    this.#heap[one] = this.#heap[other] as Appointment
    this.#heap[other] = kept
  }
}
