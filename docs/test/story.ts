// Lines as they are told, for whoever waits for some of them.

export class Story {
  readonly #lines: string[] = []
  #told = Promise.withResolvers<void>()

  tell(line: string): void {
    this.#lines.push(line)
    this.#told.resolve()
    this.#told = Promise.withResolvers()
  }

  async until(isEnough: (lines: readonly string[]) => boolean): Promise<void> {
    while (!isEnough(this.#lines)) await this.#told.promise
  }
}
