// Shows progress on standard error: on a terminal as one bar that is redrawn, elsewhere as a line every few seconds.

import type { Run } from '@jobcast/client'
import type { Io, TextOutput } from '../io.ts'
import type { Out } from './out.ts'
import { type Progress, progressBar, progressLine } from './progress.ts'
import { cutText } from './text-width.ts'

const drawEveryMs = 1000
const lineEveryMs = 5000

const hideCursor = '\u001b[?25l'
const showCursor = '\u001b[?25h'
const eraseToLineEnd = '\u001b[K'
/** Erases from the beginning of the line, because the terminal echoes keys such as ^C at the cursor. */
const eraseBelow = '\r\u001b[J'

export function openProgress({ stderr, env }: Io, out: Out): Progress {
  const canMoveCursor = stderr.isTTY && env.TERM !== 'dumb'
  return canMoveCursor ? new Bar(stderr, out) : new Lines(out)
}

/**
 * The cursor stays at the beginning of the bar, so that drawing needs no erasing and does not flicker. When the terminal
 * gets narrower and wraps the bar, all of it is still after the cursor.
 */
class Bar implements Progress {
  readonly #terminal: TextOutput
  readonly #out: Out
  readonly #startedAt = performance.now()
  readonly #timer = setInterval(() => this.#write(this.#bar()), drawEveryMs)
  #run: Run | undefined
  #isOpen = true

  constructor(terminal: TextOutput, out: Out) {
    this.#terminal = terminal
    this.#out = out
    terminal.on('resize', this.#onResize)
    this.#write(hideCursor)
  }

  update(run: Run): void {
    this.#run = run
    this.#write(this.#bar())
  }

  say(text: string): void {
    // In one write, so that the bar does not flicker.
    this.#write(`${eraseBelow}${text}\n${this.#bar()}`)
  }

  line(text: string): void {
    this.#write(eraseBelow)
    this.#out.line(text)
    this.#write(this.#bar())
  }

  close(): void {
    if (!this.#isOpen) return
    this.#write(eraseBelow + showCursor)
    this.#isOpen = false
    clearInterval(this.#timer)
    this.#terminal.off('resize', this.#onResize)
  }

  readonly #onResize = () => this.#write(eraseBelow + this.#bar())

  #bar(): string {
    if (this.#run === undefined) return ''
    const columns = (this.#terminal.columns || 80) - 1
    const text = progressBar(this.#run, performance.now() - this.#startedAt, this.#out.paintMessage, columns)
    return `\r${cutText(text, columns)}${eraseToLineEnd}\r`
  }

  #write(text: string): void {
    if (this.#isOpen) this.#terminal.write(text)
  }
}

/** The first line is written at once, so that a log shows which run it is about. */
class Lines implements Progress {
  readonly #out: Out
  readonly #startedAt = performance.now()
  readonly #timer = setInterval(() => this.#print(), lineEveryMs)
  #run: Run | undefined

  constructor(out: Out) {
    this.#out = out
  }

  update(run: Run): void {
    const isFirst = this.#run === undefined
    this.#run = run
    if (isFirst) this.#print()
  }

  say(text: string): void {
    this.#out.say(text)
  }

  line(text: string): void {
    this.#out.line(text)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #print(): void {
    if (this.#run === undefined) return
    const elapsedMs = performance.now() - this.#startedAt
    this.#out.say(progressLine(this.#run, elapsedMs, this.#out.paintMessage))
  }
}
