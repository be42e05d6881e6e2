// Closes everything that was opened, once and in reverse order, even after a start that failed halfway. A failing step does not
// prevent the others.

export class TakeDown {
  readonly #steps: (() => Promise<void> | void)[] = []
  #done: Promise<void> | undefined

  /** Call right after opening something. */
  add(close: () => Promise<void> | void): void {
    this.#steps.push(close)
  }

  /** May be called twice; resolves when everything is closed. */
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
    if (errors.length > 0) throw new AggregateError(errors, 'some parts could not be closed')
  }
}
