// The port by which rules say that something has changed (a run, the output of an execution, the queue of a device), and
// wait for it. A hint only: whoever waits reads the store again, also when its time is over, so a hint that gets lost
// costs time and nothing else.

export type ChangeSignal<Key = number> = {
  notify(keys: Iterable<Key>): void
  /**
   * Changes from now on are noticed. The watch must be closed. One that is given notices these changes too, so that
   * whoever waits for several things waits once.
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
