// Tells whoever waits for a run that one of its executions has moved. A hint only: a waiter reads the
// store again, also when its time is over, so a hint that gets lost costs time and nothing else.

export class ChangeSignal {
  #watches = new Map<number, Set<Watch>>()

  tell(runIds: Iterable<number>): void {
    for (const runId of runIds) {
      for (const watch of this.#watches.get(runId) ?? []) watch.notice()
    }
  }

  /** Changes from now on are noticed. The watch must be closed. */
  openWatch(runId: number): Watch {
    const watches = this.#watches.get(runId) ?? new Set()
    this.#watches.set(runId, watches)
    const watch = new Watch(() => {
      watches.delete(watch)
      if (watches.size === 0 && this.#watches.get(runId) === watches) this.#watches.delete(runId)
    })
    watches.add(watch)
    return watch
  }
}

export class Watch {
  readonly close: () => void
  #changed = false
  #wake: (() => void) | undefined

  constructor(close: () => void) {
    this.close = close
  }

  notice(): void {
    this.#changed = true
    this.#wake?.()
  }

  /** Resolves at once if there was a change since the last call, else at the next one, after `ms`, or on abort. */
  async nextChange(ms: number, abort: AbortSignal): Promise<void> {
    if (!this.#changed && ms > 0 && !abort.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          abort.removeEventListener('abort', wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        abort.addEventListener('abort', wake)
        this.#wake = wake
      })
      this.#wake = undefined
    }
    this.#changed = false
  }
}
