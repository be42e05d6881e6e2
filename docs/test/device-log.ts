// Lines that simulated devices log, for tests that wait for some of them.

export class DeviceLog {
  readonly #lines: string[] = []
  #added = Promise.withResolvers<void>()

  add(line: string): void {
    this.#lines.push(line)
    this.#added.resolve()
    this.#added = Promise.withResolvers()
  }

  async until(isEnough: (lines: readonly string[]) => boolean): Promise<void> {
    while (!isEnough(this.#lines)) await this.#added.promise
  }
}
