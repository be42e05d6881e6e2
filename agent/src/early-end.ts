// What can end a start before its time: a cancel, the time limit, the agent's own stop. The first of them counts.

import type { Tell } from './events.ts'
import type { Offered } from './offered.ts'
import type { Ending } from './run-step.ts'
import { callAt } from './time-limit.ts'
import type { Transport } from './transport.ts'

export type EarlyEndDeps = {
  transport: Pick<Transport, 'watch'>
  /** Aborted when the agent is to stop. */
  stopping: AbortSignal
  /** From TERM to KILL, if there is time. */
  graceMs: number
  tell: Tell
}

/** Of the time that a cancel leaves, so much is kept for the report. */
const reportMs = 2000
const leastGraceMs = 500
/**
 * The server's own clock calls it TIMED_OUT and tells us, or we look. Only when nothing of that reaches us the agent
 * ends it by itself, so much later.
 */
const serverFirstMs = 10_000

export class EarlyEnd {
  /** Nobody waits for its outcome: it is over for the server. */
  isWithdrawn = false
  readonly #deps: EarlyEndDeps
  readonly #offered: Offered
  readonly #controller = new AbortController()
  readonly #closers: (() => void)[] = []

  constructor(deps: EarlyEndDeps, offered: Offered, timeoutMs: number | undefined) {
    this.#deps = deps
    this.#offered = offered
    if (timeoutMs !== undefined) this.#endAt(performance.now() + timeoutMs)
    if (offered.givenUpAt !== undefined) this.#endAt(offered.givenUpAt + serverFirstMs)
    this.#closers.push(deps.transport.watch(offered, (deadlineSeconds) => this.#cancel(deadlineSeconds)))
    const stop = () => this.#end('stopping')
    deps.stopping.addEventListener('abort', stop)
    this.#closers.push(() => deps.stopping.removeEventListener('abort', stop))
    if (deps.stopping.aborted) stop()
  }

  /** Its reason is an Ending. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get ending(): Ending | undefined {
    return this.signal.aborted ? this.signal.reason : undefined
  }

  /** The server says that it is over. */
  withdraw(): void {
    this.#cancel(0)
  }

  close(): void {
    for (const close of this.#closers) close()
  }

  #cancel(deadlineSeconds: number): void {
    const { jobId, attempt } = this.#offered
    if (this.isWithdrawn || (deadlineSeconds > 0 && this.signal.aborted)) return
    this.#deps.tell({ kind: 'canceled', jobId, attempt, deadlineSeconds })
    if (deadlineSeconds === 0) {
      this.isWithdrawn = true
      this.#end('withdrawn')
    } else {
      const graceMs = Math.max(leastGraceMs, deadlineSeconds * 1000 - reportMs)
      this.#end('canceled', Math.min(this.#deps.graceMs, graceMs))
    }
  }

  #endAt(at: number): void {
    this.#closers.push(callAt(at, () => this.#end('time-limit')))
  }

  #end(kind: Ending['kind'], graceMs = this.#deps.graceMs): void {
    const ending: Ending = { kind, graceMs }
    if (!this.signal.aborted) this.#controller.abort(ending)
  }
}
