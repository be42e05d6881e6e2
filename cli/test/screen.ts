// A terminal screen, as far as the progress bar uses one. Rows do not scroll and do not wrap.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences begin with one
const pieces = /\u001b\[([?\d;]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+/g

export class Screen {
  /** Everything received, unchanged. */
  raw = ''
  isCursorVisible = true
  #rows: string[] = ['']
  #column = 0

  write(text: string): void {
    this.raw += text
    for (const [piece, argument = '', command] of text.matchAll(pieces)) {
      if (command !== undefined) this.#control(argument, command)
      else if (piece === '\r') this.#column = 0
      else if (piece === '\n') this.#rows.push('')
      else this.#put(piece)
    }
  }

  /** Empty rows at the end are left out. */
  rows(): string[] {
    return this.text().split('\n')
  }

  text(): string {
    return this.#rows
      .map((row) => row.trimEnd())
      .join('\n')
      .trimEnd()
  }

  #put(text: string): void {
    const row = this.#row.padEnd(this.#column)
    this.#row = row.slice(0, this.#column) + text + row.slice(this.#column + text.length)
    this.#column += text.length
  }

  #control(argument: string, command: string): void {
    if (argument === '?25') this.isCursorVisible = command === 'h'
    // The cursor is in the last row, so that what follows it is the rest of the row.
    else if (command === 'K' || command === 'J') this.#row = this.#row.slice(0, this.#column)
    else if (command !== 'm') throw new Error(`unsupported control sequence ${argument}${command}`)
  }

  get #row(): string {
    return this.#rows.at(-1) ?? ''
  }

  set #row(text: string) {
    this.#rows[this.#rows.length - 1] = text
  }
}
