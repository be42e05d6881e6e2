// Small tasks that run now and then. One that fails is told and tried again the next time.

import type { Tell } from './observe/events.ts'

export class Background {
  readonly #tell: Tell
  readonly #timers: NodeJS.Timeout[] = []
  readonly #running = new Set<Promise<void>>()

  constructor(tell: Tell) {
    this.#tell = tell
  }

  every(ms: number, task: string, work: () => Promise<void>): void {
    let busy = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      const run = work()
        .catch((error: unknown) => this.#tell({ kind: 'background-failed', task, error }))
        .finally(() => {
          busy = false
          this.#running.delete(run)
        })
      this.#running.add(run)
    }, ms)
    this.#timers.push(timer)
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#running)
  }
}
