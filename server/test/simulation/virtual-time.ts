// Simulated time that advances only when nothing is left to do: timers of this process fire in order, without delay. All random
// choices come from a seed, so each simulation is reproducible.

import { createRequire, syncBuiltinESMExports } from 'node:module'

type Entry = { at: number; order: number; run: () => void; isCanceled: boolean }

const realImmediate = setImmediate

/** Where all simulations begin, on the wall clock: a new minute begins while much goes wrong. */
export const startedAt = Date.UTC(2026, 0, 1) - 3000

export class VirtualTime {
  /** Milliseconds since the beginning. */
  elapsed = 0
  #order = 0
  /** In the order in which they are due. */
  readonly #entries: Entry[] = []

  readonly now = (): number => startedAt + Math.floor(this.elapsed)

  after(ms: number, run: () => void): Entry {
    const entry = { at: this.elapsed + ms, order: this.#order++, run, isCanceled: false }
    let at = this.#entries.length
    while (at > 0 && (this.#entries[at - 1] as Entry).at > entry.at) at--
    this.#entries.splice(at, 0, entry)
    return entry
  }

  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => void this.after(ms, resolve))

  /** Until it is so, or so late. Gives whether it is so. */
  async run(isSo: () => boolean, untilMs: number): Promise<boolean> {
    await settled()
    while (!isSo()) {
      const next = this.#entries[0]
      if (next === undefined || next.at > untilMs) {
        this.elapsed = Math.max(this.elapsed, untilMs)
        return false
      }
      this.#entries.shift()
      if (next.isCanceled) continue
      this.elapsed = next.at
      next.run()
      await settled()
    }
    return true
  }
}

/** Everything that waits for nothing but promises has happened. */
const settled = () => new Promise<void>((resolve) => void realImmediate(resolve))

let current: VirtualTime | undefined

/** From now on, all timers of our code in this process are those of `useTime`. */
export function installVirtualTime(): void {
  const time = () => {
    if (current === undefined) throw new Error('a timer outside of a simulation')
    return current
  }
  const toHandle = (cancel: () => void) => {
    const handle = { cancel, ref: () => handle, unref: () => handle, hasRef: () => true }
    return handle
  }
  const once = (ms: number, run: () => void) => {
    const entry = time().after(ms, run)
    return toHandle(() => {
      entry.isCanceled = true
    })
  }
  const cancel = (handle?: { cancel?: () => void }) => handle?.cancel?.()
  const atLeastOne = (ms: unknown) => (Number(ms) >= 1 ? Number(ms) : 1)
  const asTimer = (run: (...args: unknown[]) => void, ms: unknown, ...args: unknown[]) =>
    once(atLeastOne(ms), () => run(...args))
  const every = (run: () => void, ms: number) => {
    let timer = asTimer(tick, ms)
    function tick(): void {
      timer = asTimer(tick, ms)
      run()
    }
    return toHandle(() => timer.cancel())
  }
  const soon = (run: (...args: unknown[]) => void, ...args: unknown[]) => once(0, () => run(...args))
  Object.assign(globalThis, {
    setTimeout: asTimer,
    clearTimeout: cancel,
    setInterval: every,
    clearInterval: cancel,
    setImmediate: soon,
    clearImmediate: cancel,
  })
  performance.now = () => current?.elapsed ?? 0
  Object.assign(createRequire(import.meta.url)('node:timers/promises'), {
    setTimeout: (ms: number, value: unknown) =>
      new Promise((resolve) => void asTimer(() => resolve(value), ms)),
    setImmediate: (value: unknown) => new Promise((resolve) => void soon(() => resolve(value))),
  })
  syncBuiltinESMExports()
}

export function useTime(time: VirtualTime): void {
  current = time
}
