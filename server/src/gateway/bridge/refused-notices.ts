// Devices whose notices the broker refused, for example by its access rules. Their notices are published again with a backoff.

const [firstDelayMs, longestDelayMs] = [5000, 5 * 60_000]

export class RefusedNotices {
  readonly #elapsed: () => number
  readonly #repeat: (deviceIds: readonly string[]) => void
  #deviceIds = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #delayMs = firstDelayMs
  #repeatedAt = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(elapsed: () => number, repeat: (deviceIds: readonly string[]) => void) {
    this.#elapsed = elapsed
    this.#repeat = repeat
  }

  add(deviceId: string): void {
    if (this.#isStopped) return
    this.#deviceIds.add(deviceId)
    if (this.#timer !== undefined) return
    // Refused again soon after a retry: back off further.
    const isAgain = this.#elapsed() - this.#repeatedAt < this.#delayMs
    this.#delayMs = isAgain ? Math.min(longestDelayMs, 2 * this.#delayMs) : firstDelayMs
    this.#timer = setTimeout(() => this.#repeatAll(), this.#delayMs)
    this.#timer.unref()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #repeatAll(): void {
    const deviceIds = [...this.#deviceIds]
    this.#deviceIds = new Set()
    this.#timer = undefined
    this.#repeatedAt = this.#elapsed()
    this.#repeat(deviceIds)
  }
}
