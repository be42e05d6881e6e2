// Periodic tasks. A task that fails runs again the next time; the failure is logged once until it succeeds.

import type { Tell } from '../observe/events.ts'

/** 'after the others': includes the writes of the other tasks. */
type Last = 'at the end' | 'after the others'

export class Background {
  readonly #tell: Tell
  readonly #timers: NodeJS.Timeout[] = []
  readonly #last: Record<Last, (() => Promise<void>)[]> = { 'at the end': [], 'after the others': [] }
  readonly #running = new Set<Promise<void>>()

  constructor(tell: Tell) {
    this.#tell = tell
  }

  /** With `last` it runs once more on stop, to write what has accumulated. */
  every(ms: number, task: string, work: () => Promise<void>, last?: Last): void {
    let busy = false
    let failing = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      const run = work()
        .then(
          () => {
            failing = false
          },
          (error: unknown) => {
            if (!failing) this.#tell({ kind: 'background-failed', task, error })
            failing = true
          },
        )
        .finally(() => {
          busy = false
          this.#running.delete(run)
        })
      this.#running.add(run)
    }, ms)
    this.#timers.push(timer)
    if (last)
      this.#last[last].push(() =>
        work().catch((error) => this.#tell({ kind: 'background-failed', task, error })),
      )
  }

  /** Runs the task now, in addition to its interval. */
  soon(task: string, work: () => Promise<void>): void {
    const run = work()
      .catch((error: unknown) => this.#tell({ kind: 'background-failed', task, error }))
      .finally(() => this.#running.delete(run))
    this.#running.add(run)
  }

  /** Runs the task after the delay, and repeats it until it succeeds. */
  once(ms: number, task: string, work: () => Promise<void>): void {
    let isDone = false
    this.every(ms, task, async () => {
      if (isDone) return
      await work()
      isDone = true
    })
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#running)
    for (const works of Object.values(this.#last)) await Promise.all(works.splice(0).map((work) => work()))
  }
}
