// The way down: what was opened last is closed first, once, and also when the start breaks off half way.
// A step that fails keeps no other from being taken.

export class TakeDown {
  readonly #steps: (() => Promise<void> | void)[] = []
  #done: Promise<void> | undefined

  /** To be called right after something was opened. */
  add(close: () => Promise<void> | void): void {
    this.#steps.push(close)
  }

  /** May be called twice; resolves when everything is quiet. */
  run(): Promise<void> {
    this.#done ??= this.#runSteps()
    return this.#done
  }

  async #runSteps(): Promise<void> {
    const errors: unknown[] = []
    for (const close of this.#steps.toReversed()) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be closed')
  }
}
