// The progress of work of known size: one bar on standard error, on a terminal only.

import { elapsedText } from '../flags/wait-time.ts'
import type { Io } from '../io.ts'
import { untilInterrupted } from '../signals/interrupt.ts'
import { paintFor } from './colors.ts'
import { cutText } from './text-width.ts'

/** `done` of `of`, which may be an estimate; `what` is the current part. */
export type OnProgress = (done: number, of: number, what?: string) => void

const drawEveryMs = 100
const width = 30
const eraseLine = '\r\u001b[K'

/** Runs `work` with a bar, which is erased when the work ends or is interrupted. Without a terminal, `work` gets undefined. */
export async function withTaskBar<T>(
  io: Io,
  verb: string,
  work: (onProgress: OnProgress | undefined) => Promise<T>,
): Promise<T> {
  if (!io.stderr.isTTY || io.env.TERM === 'dumb') return work(undefined)
  const bar = new TaskBar(io, verb)
  try {
    return await untilInterrupted(io, () => work(bar.update))
  } finally {
    bar.close()
  }
}

class TaskBar {
  readonly #io: Io
  readonly #verb: string
  readonly #startedAt = performance.now()
  #drawnAt = Number.NEGATIVE_INFINITY
  #isOpen = true

  constructor(io: Io, verb: string) {
    this.#io = io
    this.#verb = verb
  }

  readonly update: OnProgress = (done, of, what) => {
    const now = performance.now()
    // The end is always drawn: short work would show nothing else.
    if (!this.#isOpen || (now - this.#drawnAt < drawEveryMs && done < of)) return
    this.#drawnAt = now
    const { stderr, env } = this.#io
    const share = of > 0 ? Math.min(1, done / of) : 1
    const filled = Math.floor(share * width)
    const paint = paintFor(stderr, env)
    const bar = paint('green', '█'.repeat(filled)) + paint('dim', '░'.repeat(width - filled))
    const parts = [`${this.#verb} ${bar}`, `${Math.floor(share * 100)} %`]
    if (what !== undefined) parts.push(what)
    parts.push(elapsedText(now - this.#startedAt))
    stderr.write(`${eraseLine}${cutText(parts.join('  '), (stderr.columns || 80) - 1)}\r`)
  }

  close(): void {
    this.#isOpen = false
    if (this.#drawnAt > 0) this.#io.stderr.write(eraseLine)
  }
}
