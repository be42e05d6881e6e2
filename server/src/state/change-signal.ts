// Who waits for which change on this node (see domain/ports/change-signal.ts).

import type { ChangeWatch, ChangeSignal as Port } from '../domain/ports/change-signal.ts'

export class ChangeSignal<Key = number> implements Port<Key> {
  #watches = new Map<Key, Set<ChangeWatch>>()
  /** Where others must hear of it as well: on other nodes. */
  forward: ((keys: Key[]) => void) | undefined

  /** Nobody needs to be told while nobody watches. */
  get isWatched(): boolean {
    return this.#watches.size > 0
  }

  tell(keys: Iterable<Key>): void {
    if (this.forward === undefined) {
      this.hear(keys)
      return
    }
    const all = [...keys]
    this.hear(all)
    this.forward(all)
  }

  /** Of a change that others have told of already. */
  hear(keys: Iterable<Key>): void {
    for (const key of keys) {
      for (const watch of this.#watches.get(key) ?? []) watch.notice()
    }
  }

  /** Anything may have changed. */
  hearAll(): void {
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

export class Watch implements ChangeWatch {
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
