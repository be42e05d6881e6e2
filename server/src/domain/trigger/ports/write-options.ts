/**
 * Of a write whose list comes from several callers: one of them may need a lock that somebody holds for long, and the
 * others must not wait for it. Unless it `waitsForLocks`, as it does by default, a write that cannot have its locks within
 * a fraction of a second rejects with LocksBusy.
 */
export type WriteOptions = { waitsForLocks: boolean }
