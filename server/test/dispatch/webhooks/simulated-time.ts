// A clock that only moves when a test says so, and then from timer to timer, each time when all is quiet.

import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../../src/dispatch/webhooks/clock.ts'
import type { Store } from '../../../src/domain/common/ports/store.ts'
import { startedAt } from '../../store/store-under-test.ts'

type Timer = { at: number; call: () => void }

export class SimulatedTime implements Clock {
  readonly #timers = new Set<Timer>()
  #elapsed = 1
  /** Steps of the store that are in progress. */
  #busy = 0

  readonly now = () => startedAt + this.#elapsed
  readonly elapsed = () => this.#elapsed
  readonly after = (ms: number, call: () => void) => {
    const timer = { at: this.#elapsed + Math.max(1, ms), call }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  /** The same store, whose steps are waited for before time continues. */
  watch(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const step = target[name as keyof Store] as (...inputs: unknown[]) => unknown
        return (...inputs: unknown[]) => {
          const outcome = step(...inputs)
          if (!(outcome instanceof Promise)) return outcome
          this.#busy++
          return outcome.finally(() => this.#busy--)
        }
      },
    })
  }

  /** Resolves when nothing continues but the time. */
  async quiet(): Promise<void> {
    for (let quietTurns = 0; quietTurns < 3; quietTurns++) {
      await turn()
      if (this.#busy > 0) quietTurns = -1
    }
  }

  async forward(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    for (;;) {
      await this.quiet()
      const next = this.#next
      if (next === undefined || next.at > end) break
      this.#elapsed = Math.max(this.#elapsed, next.at)
      this.#timers.delete(next)
      next.call()
    }
    this.#elapsed = end
  }

  get #next(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer
    return next
  }
}
