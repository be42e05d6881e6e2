// Maps rows to parts of lines. Lines are wrapped after a fixed number of characters, as in terminals, so all rows have the same
// height, and their positions can be computed without measuring.

import type { Line } from './ansi.ts'

type RowPart = { line: number; from: number; to: number }

export class RowMap {
  /** Undefined: lines are not wrapped. */
  readonly columns: number | undefined
  /** The first row of each line; only if lines are wrapped. */
  readonly #starts: number[] = []
  #rows = 0
  #last = 0

  constructor(columns: number | undefined) {
    this.columns = columns
  }

  /** Must be called when lines were added; the last line may have grown. */
  extend(lines: readonly Line[]): number {
    if (this.columns === undefined) return lines.length
    const redo = Math.max(0, this.#starts.length - 1)
    if (this.#starts.length > 0) this.#rows = this.#starts[redo] as number
    for (let index = redo; index < lines.length; index++) {
      this.#starts[index] = this.#rows
      this.#rows += Math.max(1, Math.ceil((lines[index] as Line).text.length / this.columns))
    }
    this.#last = lines.length
    return this.#rows
  }

  partOf(row: number, lines: readonly Line[]): RowPart {
    if (this.columns === undefined) return { line: row, from: 0, to: lines[row]?.text.length ?? 0 }
    const line = this.#lineAt(row)
    const from = (row - (this.#starts[line] as number)) * this.columns
    return { line, from, to: Math.min(from + this.columns, lines[line]?.text.length ?? 0) }
  }

  rowOf(line: number): number {
    return this.columns === undefined ? line : (this.#starts[line] ?? 0)
  }

  #lineAt(row: number): number {
    let [low, high] = [0, this.#last - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] as number) <= row) low = middle
      else high = middle - 1
    }
    return low
  }
}
