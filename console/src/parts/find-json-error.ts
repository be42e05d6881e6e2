// Finds the position of a JSON error. Browsers report it in different ways, and one does not report it.

type JsonError = { line: number; column: number; offset: number; message: string }

export function findJsonError(text: string): JsonError | undefined {
  const reader = new Reader(text)
  try {
    reader.whole()
    return undefined
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    const before = text.slice(0, error.offset)
    const lineStart = before.lastIndexOf('\n') + 1
    return {
      line: before.split('\n').length,
      column: error.offset - lineStart + 1,
      offset: error.offset,
      message: error.message,
    }
  }
}

class Wrong extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const space = /[ \t\n\r]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /true|false|null/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: not allowed in JSON strings
const plainText = /[^"\\\u0000-\u001f]*/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const deepest = 500

class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): void {
    this.#take(space)
    if (this.#at === this.#text.length) this.#fail('The text is empty')
    this.#value()
    if (this.#at < this.#text.length) this.#fail('Unexpected text after the end')
  }

  #value(): void {
    const first = this.#text[this.#at]
    if (first === '{') this.#many('}', () => this.#member())
    else if (first === '[') this.#many(']', () => this.#value())
    else if (first === '"') this.#string()
    else if (!this.#take(number) && !this.#take(word)) this.#fail('A value is missing')
    this.#take(space)
  }

  #many(end: string, one: () => void): void {
    if (++this.#depth > deepest) this.#fail('Nested too deeply')
    const begin = this.#at++
    this.#take(space)
    if (this.#text[this.#at] !== end) {
      do {
        this.#take(space)
        one()
      } while (this.#skip(','))
    }
    if (!this.#skip(end)) {
      if (this.#at === this.#text.length) {
        this.#fail(`The ${this.#text[begin]} of line ${this.#lineOf(begin)} is not closed`)
      }
      this.#fail(`A comma or ${end} is missing`)
    }
    this.#depth--
  }

  #member(): void {
    if (this.#text[this.#at] !== '"') this.#fail('A name in double quotes is missing')
    this.#string()
    this.#take(space)
    if (!this.#skip(':')) this.#fail('A colon is missing')
    this.#take(space)
    this.#value()
  }

  #string(): void {
    const begin = this.#at++
    do this.#take(plainText)
    while (this.#take(escaped))
    if (this.#skip('"')) return
    if (this.#text[this.#at] === '\\') this.#fail('JSON has no such escape')
    this.#at = begin
    this.#fail('This string is not closed on its line')
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    const length = pattern.exec(this.#text)?.[0].length ?? 0
    this.#at += length
    return length > 0
  }

  #lineOf(offset: number): number {
    return this.#text.slice(0, offset).split('\n').length
  }

  #fail(message: string): never {
    throw new Wrong(message, this.#at)
  }
}
