// Callers whose requests were committed together usually return together, one shortly after the other. If the first request
// were written at once, it would be alone, and the others would follow in the next commit: twice the necessary number of
// commits. So it waits for most of them, but no longer than the last commit took.

/** For fewer callers, saving a commit does not justify a wait. */
const fewest = 8
const most = 0.9
const maxMs = 10

export class ReturningCallers {
  readonly #onLate: () => void
  #late: NodeJS.Timeout | undefined
  #wanted = 0

  /** `onLate`: called when the callers are no longer expected. */
  constructor(onLate: () => void) {
    this.#onLate = onLate
  }

  /** `answered` callers may return, in addition to those that already wait. */
  expect(answered: number, waiting: number, lastMs: number): void {
    // With this many new callers, groups do not grow further.
    if (answered < fewest || waiting >= answered / 2) return
    this.#wanted = (answered + waiting) * most
    this.#late ??= setTimeout(
      () => {
        this.#late = undefined
        this.#onLate()
      },
      Math.min(lastMs, maxMs),
    )
  }

  /** Whether to wait for more than `waiting`. */
  isExpecting(waiting: number): boolean {
    if (this.#late === undefined) return false
    if (waiting < this.#wanted) return true
    clearTimeout(this.#late)
    this.#late = undefined
    return false
  }
}
