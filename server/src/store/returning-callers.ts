// Callers that are answered together mostly come back together, one shortly behind the other. If the first of them were
// written at once, it would be alone, and the others would be the next commit: twice as many commits as it takes. So it waits
// for most of them, but no longer than the last commit took.

/** For fewer a commit less is not worth a wait. */
const fewest = 8
const most = 0.9
const maxMs = 10

export class ReturningCallers {
  readonly #onLate: () => void
  #late: NodeJS.Timeout | undefined
  #wanted = 0

  /** `onLate`: they are not expected any more. */
  constructor(onLate: () => void) {
    this.#onLate = onLate
  }

  /** `answered` callers may come back, beside those that wait by now. */
  expect(answered: number, waiting: number, lastMs: number): void {
    // With as many that have come meanwhile, groups are as large as they get.
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
