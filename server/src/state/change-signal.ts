// The watches open on this node, by key (see domain/event/ports/change-signal.ts).

import type { ChangeWatch, ChangeSignal as Port } from '../domain/event/ports/change-signal.ts'

export class ChangeSignal<Key = number> implements Port<Key> {
  #watches = new Map<Key, Set<ChangeWatch>>()
  /** Forwards the change to other nodes. */
  forward: ((keys: Key[]) => void) | undefined

  /** While false, signalling can be skipped. */
  get isWatched(): boolean {
    return this.#watches.size > 0
  }

  notify(keys: Iterable<Key>): void {
    if (this.forward === undefined) {
      this.notifyLocal(keys)
      return
    }
    const all = [...keys]
    this.notifyLocal(all)
    this.forward(all)
  }

  /** For a change that another node has already signalled. */
  notifyLocal(keys: Iterable<Key>): void {
    for (const key of keys) {
      for (const watch of this.#watches.get(key) ?? []) watch.notice()
    }
  }

  /** Anything may have changed. */
  notifyAllLocal(): void {
    for (const watches of this.#watches.values()) for (const watch of watches) watch.notice()
  }

  openWatch(key: Key, watch: ChangeWatch = new Watch()): ChangeWatch {
    const watches = this.#watches.get(key) ?? new Set()
    this.#watches.set(key, watches)
    watches.add(watch)
    watch.onClose(() => {
      watches.delete(watch)
      if (watches.size === 0 && this.#watches.get(key) === watches) this.#watches.delete(key)
    })
    return watch
  }
}

class Watch implements ChangeWatch {
  readonly #closers: (() => void)[] = []
  #changed = false
  #wake: (() => void) | undefined

  onClose(closer: () => void): void {
    this.#closers.push(closer)
  }

  close(): void {
    for (const closer of this.#closers) closer()
  }

  notice(): void {
    this.#changed = true
    this.#wake?.()
  }

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
