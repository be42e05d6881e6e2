// The output of a command: data on standard output, messages on standard error.

import { once } from 'node:events'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io } from '../io.ts'
import { type Paint, paintFor } from './colors.ts'
import type { Formatter } from './output-format.ts'
import { type Column, tableText } from './print-table.ts'

export class Out {
  /** Data is written for programs, as JSON, YAML or a path: one document, or one per item of a stream. */
  readonly json: boolean
  readonly paint: Paint
  readonly paintMessage: Paint
  /** Resolves with the exit code when standard output can no longer be written. */
  readonly readerGone: Promise<ExitCode>
  readonly #io: Io
  readonly #format: Formatter | undefined
  #ignoresReader = false

  constructor(io: Io, format?: Formatter) {
    this.json = format !== undefined
    this.#format = format
    this.#io = io
    this.paint = paintFor(io.stdout, io.env)
    this.paintMessage = paintFor(io.stderr, io.env)
    this.readerGone = new Promise((resolve) => {
      io.stdout.on('error', (error: NodeJS.ErrnoException) => {
        // `jobcast executions ls | head -1`: the reader has enough, which is not an error.
        if (error.code === 'EPIPE' && this.#ignoresReader) return
        if (error.code !== 'EPIPE') this.say(`jobcast: cannot write to standard output: ${error.message}`)
        resolve(error.code === 'EPIPE' ? exitCode.ok : exitCode.unexpected)
      })
    })
    io.stderr.on('error', () => undefined)
  }

  /** The document of the command, or its text. An empty text is not printed. */
  show(value: unknown, text: () => string): void {
    const shown = this.#format ? this.#format.document(value) : text()
    if (shown === undefined) this.say(`${this.#format?.expression} matches nothing in the output.`)
    else if (this.json || shown !== '') this.line(shown)
  }

  /** A list: a table, or a JSON array. */
  showTable<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    this.show(rows, () => this.tableOf(rows, columns))
  }

  /** As wide as the terminal. */
  tableOf<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
    const { stdout } = this.#io
    const width = stdout.isTTY ? stdout.columns : undefined
    return tableText(rows, columns, { paint: this.paint, columns: width })
  }

  /** One item of a stream: a line of JSON, or of text. */
  showNext(value: unknown, text: () => string): void {
    const shown = this.#format ? this.#format.item(value) : text()
    if (shown !== undefined) this.line(shown)
  }

  line(text: string): void {
    this.#io.stdout.write(`${text}\n`)
  }

  /** Output of a device. Waits for a slow reader: an output may be larger than memory. */
  async bytes(bytes: Uint8Array | string, signal?: AbortSignal): Promise<void> {
    const { stdout } = this.#io
    if (!stdout.write(bytes)) await once(stdout, 'drain', { signal })
  }

  /** A message, on standard error. */
  say(text: string): void {
    this.#io.stderr.write(`${text}\n`)
  }

  /** For a command whose exit code matters even if nobody reads its output. */
  ignoreReader(): void {
    this.#ignoresReader = true
  }
}
