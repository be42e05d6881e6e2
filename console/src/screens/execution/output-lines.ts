// Output as lines, while it grows: ten megabytes of it are parsed once, piece by piece, as they arrive.

import { type Line, parseLine, plain, type Style } from './ansi.ts'

/** A longer line goes on in the next row: a browser freezes when it lays out a megabyte of text without a break. */
export const longestLine = 4000
/** An escape sequence that is longer than this is none. */
const longestEscape = 64

export class OutputLines {
  readonly lines: Line[] = []
  /** Of the longest line. */
  width = 0
  #style: Style = plain
  #open = ''
  /** How the last line begins, to parse it again when more of it comes. */
  #openStyle: Style = plain
  #hasOpen = false

  append(text: string): void {
    if (text === '') return
    const pieces = text.split('\n')
    for (const [index, piece] of pieces.entries()) {
      this.#open += piece
      while (this.#open.length > longestLine) this.#breakOpen()
      this.#drawOpen()
      if (index < pieces.length - 1) this.#closeOpen()
    }
  }

  #breakOpen(): void {
    const at = breakPlace(this.#open)
    const rest = this.#open.slice(at)
    this.#open = this.#open.slice(0, at)
    this.#drawOpen(true)
    this.#closeOpen()
    this.#open = rest
  }

  #drawOpen(goesOn = false): void {
    if (this.#open === '' && !this.#hasOpen && !goesOn) {
      this.#style = this.#openStyle
      return
    }
    const { line, style } = parseLine(this.#open, this.#openStyle, goesOn)
    if (this.#hasOpen) this.lines.pop()
    this.lines.push(line)
    this.#hasOpen = true
    this.#style = style
    if (line.text.length > this.width) this.width = line.text.length
  }

  #closeOpen(): void {
    // An empty line is a line as well.
    if (!this.#hasOpen) this.lines.push({ text: '', styles: [], goesOn: false })
    this.#open = ''
    this.#hasOpen = false
    this.#openStyle = this.#style
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what it is about
const wholeEscape = /^\x1b\[[\d;:?]*[@-~]/

/** Not within an escape sequence, nor within a character of two halves. */
function breakPlace(raw: string): number {
  const begin = raw.lastIndexOf('\x1b', longestLine - 1)
  const mayBeCut = begin > 0 && begin >= longestLine - longestEscape
  if (mayBeCut && !wholeEscape.test(raw.slice(begin, longestLine))) return begin
  return /[\ud800-\udbff]/.test(raw[longestLine - 1] as string) ? longestLine - 1 : longestLine
}

/** Which lines hold the text, whatever its case; searched in batches, so that the page stays responsive. */
export async function findLines(lines: readonly Line[], text: string, abort: AbortSignal): Promise<number[]> {
  const wanted = text.toLowerCase()
  const found: number[] = []
  let pauseAt = performance.now() + biteMs
  for (const [index, line] of lines.entries()) {
    if (line.text.toLowerCase().includes(wanted)) found.push(index)
    if (index % 500 === 0 && performance.now() > pauseAt) {
      await new Promise((resolve) => setTimeout(resolve))
      if (abort.aborted) return []
      pauseAt = performance.now() + biteMs
    }
  }
  return found
}

const biteMs = 8
