// Growing output as lines: ten megabytes are parsed once, in chunks as they arrive.

import { type Line, parseLine, plain, type Style } from './ansi.ts'

/** A longer line is continued in the next entry, because browsers freeze when they lay out a megabyte of text without a break. */
export const longestLine = 4000
/** Longer sequences are not treated as escape sequences. */
const longestEscape = 64

export class OutputLines {
  readonly lines: Line[] = []
  /** The length of the longest line. */
  width = 0
  #style: Style = plain
  #open = ''
  /** The style at the beginning of the last line, to parse it again when it grows. */
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
    // Empty lines are counted as well.
    if (!this.#hasOpen) this.lines.push({ text: '', styles: [], goesOn: false })
    this.#open = ''
    this.#hasOpen = false
    this.#openStyle = this.#style
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches escape sequences
const wholeEscape = /^\x1b\[[\d;:?]*[@-~]/

/** The position for a break, which is never within an escape sequence or a surrogate pair. */
function breakPlace(raw: string): number {
  const begin = raw.lastIndexOf('\x1b', longestLine - 1)
  const mayBeCut = begin > 0 && begin >= longestLine - longestEscape
  if (mayBeCut && !wholeEscape.test(raw.slice(begin, longestLine))) return begin
  return /[\ud800-\udbff]/.test(raw[longestLine - 1] as string) ? longestLine - 1 : longestLine
}

/** Finds the lines that contain the text, ignoring case; searches in batches, so that the page remains responsive. */
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
