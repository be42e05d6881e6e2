// Where a command writes: data on standard output, talk on standard error.

import { type Paint, paintFor } from './colors.ts'
import { type Column, tableText } from './print-table.ts'

export class Out {
  /** The caller wants JSON: one document, or a line for each of a stream. */
  readonly json: boolean
  readonly paint: Paint = paintFor(process.stdout)
  readonly paintTalk: Paint = paintFor(process.stderr)
  #outlivesReader = false

  constructor(json: boolean) {
    this.json = json
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      // `jobcast executions ls | head -1`: whoever reads has had enough, and that is no failure.
      if (error.code === 'EPIPE' && this.#outlivesReader) return
      if (error.code !== 'EPIPE') this.say(`jobcast: standard output cannot be written: ${error.message}`)
      process.exit(error.code === 'EPIPE' ? 0 : 1)
    })
    process.stderr.on('error', () => undefined)
  }

  /** The one document of the command, or text for people. An empty text is left out. */
  show(value: unknown, text: () => string): void {
    const shown = this.json ? JSON.stringify(value, null, 2) : text()
    if (shown !== '') this.line(shown)
  }

  /** A list: a table for people, an array as JSON. */
  showTable<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    const width = process.stdout.isTTY ? process.stdout.columns : undefined
    this.show(rows, () => tableText(rows, columns, { paint: this.paint, columns: width }))
  }

  /** One of a stream: a line of JSON, or of text. */
  showNext(value: unknown, text: () => string): void {
    this.line(this.json ? JSON.stringify(value) : text())
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** For people only, whatever becomes of the data. */
  say(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** For a command whose exit code counts, also when nobody reads what it writes any more. */
  outliveReader(): void {
    this.#outlivesReader = true
  }

  /** Resolves when all that was written has left the process. */
  async flush(): Promise<void> {
    for (const stream of [process.stdout, process.stderr]) {
      await new Promise<void>((resolve) => void stream.write('', () => resolve()))
    }
  }
}
