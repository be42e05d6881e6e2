// What can end a start early: a cancel, the time limit, or the agent stopping. The first one wins.

import type { Tell } from '../events.ts'
import type { Transport } from '../transport/transport.ts'
import type { Offered } from './offered.ts'
import type { Ending } from './run-step.ts'
import { callAt } from './time-limit.ts'

export type EarlyEndDeps = {
  transport: Pick<Transport, 'watch'>
  /** Aborted when the agent is to stop. */
  stopping: AbortSignal
  /** Time between SIGTERM and SIGKILL, if the deadline allows it. */
  graceMs: number
  tell: Tell
}

/** Part of a cancel's deadline that is reserved for the report. */
const reportMs = 2000
const leastGraceMs = 500
/**
 * Normally the server times the execution out and notifies the agent. If the notification does not arrive, the agent ends
 * the execution itself, this much later.
 */
const serverFirstMs = 10_000

export class EarlyEnd {
  /** The execution is over for the server, so its outcome is not needed. */
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

  /** Aborted with an Ending as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get ending(): Ending | undefined {
    return this.signal.aborted ? this.signal.reason : undefined
  }

  /** The server says that the attempt is over. */
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
