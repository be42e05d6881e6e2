/**
 * For a write on behalf of several callers: one may need a lock that is held for long, and the others must not wait for
 * it. By default a write waits for its locks; without `waitsForLocks` it rejects with LocksBusy if it cannot get them
 * within a fraction of a second.
 */
export type WriteOptions = { waitsForLocks: boolean }
