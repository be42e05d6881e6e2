// The port by which rules signal a change (of a run, the output of an execution, the queue of a device) and wait for one. A
// signal is only a hint: a waiting call reads the store again, also after its timeout, so a lost hint only costs time.

export type ChangeSignal<Key = number> = {
  notify(keys: Iterable<Key>): void
  /**
   * Watches for changes from now on. The watch must be closed. Given a watch, adds the key to it, so that a caller can wait
   * for several keys at once.
   */
  openWatch(key: Key, watch?: ChangeWatch): ChangeWatch
}

export type ChangeWatch = {
  /** Resolves at once if there was a change since the last call, else at the next one, after `ms`, or on abort. */
  nextChange(ms: number, abort: AbortSignal): Promise<void>
  notice(): void
  onClose(closer: () => void): void
  /** May be called twice. */
  close(): void
}
