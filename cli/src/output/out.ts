// Where a command writes: data on standard output, talk on standard error.

import { once } from 'node:events'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io } from '../io.ts'
import { type Paint, paintFor } from './colors.ts'
import { type Column, tableText } from './print-table.ts'

export class Out {
  /** The caller wants JSON: one document, or a line for each of a stream. */
  readonly json: boolean
  readonly paint: Paint
  readonly paintTalk: Paint
  /** Resolves with what to end with when standard output takes nothing any more. */
  readonly readerGone: Promise<ExitCode>
  readonly #io: Io
  #outlivesReader = false

  constructor(io: Io, json: boolean) {
    this.json = json
    this.#io = io
    this.paint = paintFor(io.stdout, io.env)
    this.paintTalk = paintFor(io.stderr, io.env)
    this.readerGone = new Promise((resolve) => {
      io.stdout.on('error', (error: NodeJS.ErrnoException) => {
        // `jobcast executions ls | head -1`: whoever reads has had enough, and that is no failure.
        if (error.code === 'EPIPE' && this.#outlivesReader) return
        if (error.code !== 'EPIPE') this.say(`jobcast: standard output cannot be written: ${error.message}`)
        resolve(error.code === 'EPIPE' ? exitCode.ok : exitCode.unexpected)
      })
    })
    io.stderr.on('error', () => undefined)
  }

  /** The one document of the command, or text for people. An empty text is left out. */
  show(value: unknown, text: () => string): void {
    const shown = this.json ? JSON.stringify(value, null, 2) : text()
    if (shown !== '') this.line(shown)
  }

  /** A list: a table for people, an array as JSON. */
  showTable<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    const { stdout } = this.#io
    const width = stdout.isTTY ? stdout.columns : undefined
    this.show(rows, () => tableText(rows, columns, { paint: this.paint, columns: width }))
  }

  /** One of a stream: a line of JSON, or of text. */
  showNext(value: unknown, text: () => string): void {
    this.line(this.json ? JSON.stringify(value) : text())
  }

  line(text: string): void {
    this.#io.stdout.write(`${text}\n`)
  }

  /** Bytes as they are. Whoever reads slowly is waited for: an output may be larger than memory should hold. */
  async bytes(bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const { stdout } = this.#io
    if (!stdout.write(bytes)) await once(stdout, 'drain', { signal })
  }

  /** For people only, whatever becomes of the data. */
  say(text: string): void {
    this.#io.stderr.write(`${text}\n`)
  }

  /** For a command whose exit code counts, also when nobody reads what it writes any more. */
  outliveReader(): void {
    this.#outlivesReader = true
  }
}
