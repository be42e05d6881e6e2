// Counts the output that each owner's devices have sent to this node on the current UTC day, since its start.

import type { DailyOutput as DailyOutputPort } from '../domain/execution/ports/daily-output.ts'

const dayMs = 24 * 60 * 60 * 1000

export class DailyOutput implements DailyOutputPort {
  readonly #maxBytes: number
  readonly #now: () => number
  #day = Number.NaN
  readonly #bytes = new Map<number, number>()

  /** `maxBytes`: per owner and day; 0: no limit. */
  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes
    this.#now = now
  }

  take(ownerNo: number, bytes: number): boolean {
    if (this.#maxBytes === 0) return true
    const day = Math.floor(this.#now() / dayMs)
    if (day !== this.#day) {
      this.#day = day
      this.#bytes.clear()
    }
    const sum = (this.#bytes.get(ownerNo) ?? 0) + bytes
    if (sum > this.#maxBytes) return false
    this.#bytes.set(ownerNo, sum)
    return true
  }
}
